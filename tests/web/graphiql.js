// Uses GraphiQL as a person would, in a real Chromium, and watches what the browser asks of whom.
import { chromium } from "playwright-core";

const origin = process.argv[2];
const shot = process.argv[3];
const problems = [];
const check = (good, what) => {
  console.log(`${good ? "ok" : "FAILED"}  ${what}`);
  if (!good) problems.push(what);
};

const browser = await chromium.launch({
  executablePath: process.env.TEST_CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const elsewhere = [];
  const failed = [];
  const complaints = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) elsewhere.push(url);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });

  const violations = [];
  await page.exposeFunction("reportViolation", (what) => violations.push(what));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      reportViolation(`${event.effectiveDirective} ${event.blockedURI}`);
    });
  });

  await page.goto(`${origin}/graphql`);
  await page.waitForSelector(".graphiql-query-editor .CodeMirror");
  check(true, "a browser's GET of /graphql shows GraphiQL");
  const shown = await page.evaluate(
    () => document.querySelector(".graphiql-query-editor .CodeMirror").CodeMirror.getValue(),
  );
  check(shown.includes('agent(id: "support")'), "it opens with the demo's agent");

  const answer = () =>
    page.evaluate(() => document.querySelector(".result-window .CodeMirror")?.CodeMirror.getValue() ?? "");
  const run = async (query) => {
    const before = await answer();
    if (query) {
      await page.evaluate((text) => {
        document.querySelector(".graphiql-query-editor .CodeMirror").CodeMirror.setValue(text);
      }, query);
      // GraphiQL takes in what was typed a moment later.
      await page.waitForSelector('.graphiql-tab-button:has-text("untitled")');
    }
    await page.click(".graphiql-execute-button");
    for (let waited = 0; waited < 100; waited++) {
      const after = (await answer()).trim();
      if (after !== "" && after !== before.trim()) break;
      await page.waitForTimeout(100);
    }
    return answer();
  };
  const first = await run();
  check(!first.includes('"errors"'), "its first query is answered without an error");
  if (shot) await page.screenshot({ path: shot });
  check((await run("{ __typename }")).includes("Query"), "a query that is typed in runs");

  await page.click('button[aria-label*="Documentation Explorer" i]');
  await page.waitForSelector(".graphiql-doc-explorer");
  await page.waitForSelector('.graphiql-doc-explorer a:has-text("Query")');
  await page.click('.graphiql-doc-explorer a:has-text("Query")');
  await page.waitForSelector(".graphiql-doc-explorer-field-name, .graphiql-doc-explorer-item");
  check(true, "its documentation opens and shows the schema");
  if (shot) await page.screenshot({ path: shot.replace(".png", "-docs.png") });

  await page.goto(`${origin}/graphiql`);
  await page.waitForSelector(".graphiql-query-editor .CodeMirror");
  check(true, "GraphiQL has a path of its own");
  await page.waitForTimeout(500);

  check(elsewhere.length === 0, `no request leaves the host ${elsewhere}`);
  check(failed.length === 0, `every request is answered ${failed}`);
  check(complaints.length === 0, `no error is shown ${complaints.join(" | ")}`);
  check(violations.length === 0, `nothing violates the policy ${violations.join(" | ")}`);
} finally {
  await browser.close();
}
console.log(problems.length === 0 ? "GraphiQL works" : `${problems.length} failed`);
process.exitCode = problems.length === 0 ? 0 : 1;
