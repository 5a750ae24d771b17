#!/usr/bin/env node
/* Plain old JavaScript: it must get far enough on an old Node to say that it is too old. */
"use strict";

var fs = require("fs");
var path = require("path");

var need = [22, 19];
var have = process.versions.node.split(".").map(Number);

if (have[0] < need[0] || (have[0] === need[0] && have[1] < need[1])) {
  process.stderr.write(
    "rcra: Node " +
      need.join(".") +
      " or newer is needed, this is Node " +
      process.versions.node +
      ": install one from nodejs.org. (In a clone of rcra, `npx rcra` brings its own.)\n",
  );
  process.exit(2);
}

if (!fs.existsSync(path.join(__dirname, "../../dist/cli.js"))) {
  process.stderr.write("rcra: not built yet: run `npm run build` in " + path.join(__dirname, "../..") + " first.\n");
  process.exit(2);
}

// Later starts take half the time. Where nothing can be kept, nothing is.
require("module").enableCompileCache();

import("../../dist/cli.js").then(
  function (cli) {
    return cli.main(process.argv);
  },
  function (error) {
    process.stderr.write("rcra: could not be started: " + ((error && error.message) || error) + "\n");
    process.exit(1);
  },
);
