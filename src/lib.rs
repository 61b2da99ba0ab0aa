//! Threadline.
