/** A program that takes the lock at the path in its first argument, prints the outcome, and holds the lock until its input ends. */
import { runtime } from "#runtime";
import { tryLock } from "../../src/home/lock.ts";

const lock = await tryLock(runtime.files, runtime.args[0] ?? "");
runtime.terminal.write(lock ? "held\n" : "refused\n");
await runtime.terminal.readAll();
lock?.release();
runtime.exit(0);
