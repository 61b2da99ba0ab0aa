// Writes the pinned packages' browser builds into assets/, beside our own page (index.html, boot.js, page.css).
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";

const packages = "node_modules";
const assets = "assets";

// The last line of a script may name a source map, which a browser would then ask for in vain.
const withoutMap = (text) => text.replace(/\n?\/\/# sourceMappingURL=.*\n?$/, "\n");
for (const [from, to] of [
  ["react/umd/react.production.min.js", "react.js"],
  ["react-dom/umd/react-dom.production.min.js", "react-dom.js"],
  ["graphiql/graphiql.min.js", "graphiql.js"],
]) {
  writeFileSync(`${assets}/${to}`, withoutMap(readFileSync(`${packages}/${from}`, "utf8")));
}
copyFileSync(`${packages}/graphiql/graphiql.min.css`, `${assets}/graphiql.css`);
const licenses = ["graphiql", "graphql", "react", "react-dom"].map((name) => {
  const { version } = JSON.parse(readFileSync(`${packages}/${name}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`${packages}/${name}/LICENSE`, "utf8")}`;
});
writeFileSync(`${assets}/licenses.txt`, licenses.join("\n----\n\n"));
