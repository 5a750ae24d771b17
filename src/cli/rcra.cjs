#!/usr/bin/env node
/* Plain old JavaScript: it must run far enough on an old Node to say that it is too old. */
"use strict";

var need = [22, 19];
var have = process.versions.node.split(".").map(Number);

if (have[0] < need[0] || (have[0] === need[0] && have[1] < need[1])) {
  process.stderr.write(
    "rcra needs Node " +
      need.join(".") +
      " or newer; this is Node " +
      process.versions.node +
      ".\n" +
      "Install a newer one from nodejs.org, or run: npx -p node@24 -p rcra rcra\n",
  );
  process.exit(2);
}

import("../../dist/cli.js").then(
  function (cli) {
    return cli.main(process.argv);
  },
  function (error) {
    var missing = error && error.code === "ERR_MODULE_NOT_FOUND" && /dist/.test(String(error.message));
    process.stderr.write(
      missing ? "rcra is not built: run `npm run build` first.\n" : String((error && error.stack) || error) + "\n",
    );
    process.exit(1);
  },
);
