/** Loaded before svc on Node: a machine whose hostname is $TEST_HOSTNAME. */
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import process from "node:process";

os.hostname = () => process.env.TEST_HOSTNAME ?? "";
syncBuiltinESMExports();
