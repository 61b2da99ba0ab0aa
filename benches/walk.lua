-- Walks back through the long thread over one connection, as long as wrk runs but PAGES at the most, and prints the
-- cursor it got to.
--
--   wrk -t1 -c1 … -s benches/walk.lua URL -- BODY_FILE PAGES
--
-- In the body, @CURSOR@ becomes the last page's nextCursor.

local body, left
cursor = ""

function setup(thread) walker = thread end

function init(args)
    local file = assert(io.open(args[1]))
    body = file:read("*a")
    file:close()
    left = tonumber(args[2])
    wrk.method = "POST"
    wrk.headers["content-type"] = "application/json"
end

function request()
    local value = cursor == "" and "null" or ('"%s"'):format(cursor)
    return wrk.format(nil, nil, nil, (body:gsub("@CURSOR@", value)))
end

function response(status, headers, answer)
    local next_cursor = answer:match('"nextCursor":"([^"]+)"')
    cursor = next_cursor or cursor
    left = left - 1
    if left == 0 or not next_cursor then wrk.thread:stop() end
end

function done() io.write(("CURSOR %s\n"):format(walker:get("cursor"))) end
