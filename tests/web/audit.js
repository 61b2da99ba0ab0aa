// Runs the audits of GraphQL over HTTP against the server at the given URL, and prints each with its verdict.
import { serverAudits } from "graphql-http";

const url = process.argv[2];
let failed = 0;
let passed = 0;
for (const audit of serverAudits({ url })) {
  const result = await audit.fn();
  const ok = result.status === "ok";
  ok ? passed++ : failed++;
  console.log(`${ok ? "ok" : "FAILED"}  ${audit.id}  ${audit.name}${ok ? "" : `: ${result.reason}`}`);
}
console.log(`${passed} audits passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
