// Asks a server from pages of two other origins, in a real Chromium: the one that the server lists and another.
import { createServer } from "node:http";
import { chromium } from "playwright-core";

const [server, listedPort] = process.argv.slice(2);
const problems = [];
const check = (good, what) => {
  console.log(`${good ? "ok" : "FAILED"}  ${what}`);
  if (!good) problems.push(what);
};

const pages = [Number(listedPort), 0].map(async (port) => {
  const site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html>"));
  await new Promise((ready) => site.listen(port, "127.0.0.1", ready));
  return site;
});
const sites = await Promise.all(pages);
const browser = await chromium.launch({
  executablePath: process.env.TEST_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
try {
  const page = await browser.newPage();
  const ask = async (site, path, headers) => {
    await page.goto(`http://127.0.0.1:${site.address().port}/`);
    return page.evaluate(
      async ([url, headers]) => {
        try {
          const body = headers && JSON.stringify({ query: "{ viewer { role } }" });
          const response = await fetch(url, { method: headers ? "POST" : "GET", headers, body });
          return `${response.status} ${await response.text()}`;
        } catch {
          return "blocked";
        }
      },
      [`${server}${path}`, headers],
    );
  };
  const json = { "content-type": "application/json", authorization: "Bearer x", traceparent: "00-0-0-00" };
  const [listed, other] = sites;
  check((await ask(listed, "/graphql", json)).startsWith("200"), "a listed page may ask by POST");
  check((await ask(listed, "/agents/a/chat/threads")).startsWith("200"), "and read a list");
  check((await ask(listed, "/agents/a/chat/threads?limit=0")).includes("BAD_USER_INPUT"), "and read a refusal");
  check((await ask(listed, "/graphql", { ...json, "x-other": "1" })) === "blocked", "with the headers it may send");
  check((await ask(listed, "/schema.graphql")) === "blocked", "and nothing but the API");
  check((await ask(other, "/graphql", json)) === "blocked", "another page may not ask by POST");
  check((await ask(other, "/agents/a/chat/threads")) === "blocked", "nor read a list");
} finally {
  await browser.close();
  sites.forEach((site) => site.close());
}
process.exitCode = problems.length === 0 ? 0 : 1;
