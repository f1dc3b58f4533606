/** The commands in a shell where nothing is set up. */
import assert from "node:assert/strict";
import { listedCommands } from "../../src/cli/main.ts";
import { BODY_MAX_BYTES } from "../../src/protocol/limits.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { runSvc, startSvc, SVC } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { makeWrapperBench } from "../helpers/wrapper_bench.ts";

const named = listedCommands().map(({ name }) => name);

Deno.test("every command has help with an example, and exits 0 with it [cli-help]", async (t) => {
  await using sandbox = await makeSandbox();
  for (const name of named) {
    await t.step(name, async () => {
      const { code, stdout, stderr } = await runSvc(sandbox, [name, "--help"]);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, new RegExp(`Usage: svc ${name}`));
      assert.match(stdout, new RegExp(`Example[\\s\\S]*\\bsvc ${name}`));
    });
  }
});

Deno.test("svc --help lists every agent and command; svc --version the version [cli-help]", async () => {
  await using sandbox = await makeSandbox();
  const help = await runSvc(sandbox, ["--help"]);
  assert.equal(help.code, 0);
  for (const word of ["cc", "gemini", "codex", "cursor", ...named]) {
    assert.match(help.stdout, new RegExp(`^  ${word} `, "m"), word);
  }
  for (const args of [["help"], ["help", "cc"], ["help", "echo"], ["--detach", "--help"]]) {
    assert.deepEqual(await runSvc(sandbox, args), help, args.join(" "));
  }
  assert.deepEqual(await runSvc(sandbox, ["--version"]), { code: 0, stdout: `${VERSION}\n`, stderr: "" });
});

interface Misuse {
  args: string[];
  says: RegExp;
}

const MISUSES: Misuse[] = [
  { args: [], says: /Usage: svc/ },
  { args: ["lsitener"], says: /Unknown command "lsitener"\. Did you mean "listener"\? See: svc --help/ },
  { args: ["frobnicate"], says: /Unknown command "frobnicate"\. See: svc --help/ },
  { args: ["version"], says: /Unknown command "version"\. Did you mean "--version"\? See: svc --help/ },
  {
    args: ["--detatch", "cc"],
    says: /Unknown option "--detatch"\. Did you mean "--detach"\? See: svc --help/,
  },
  { args: ["--frob", "cc"], says: /Unknown option "--frob"\. See: svc --help/ },
  { args: ["--detach"], says: /^svc: --detach needs an agent, as in: svc --detach cc\. See: svc --help$/m },
  { args: ["up", "--listen", "17421"], says: /Cannot listen on "17421": .*127\.0\.0\.1:7420/ },
  { args: ["up", "--listen", ""], says: /Cannot listen on "": / },
  { args: ["--detach", "status"], says: /--detach is for agents only/ },
  { args: ["status", "--frob"], says: /^svc: unknown option '--frob'\s+See: svc status --help/ },
  { args: ["send", "svc-a", ""], says: /Cannot send an empty message/ },
  { args: ["send"], says: /missing required argument 'session'\s+See: svc send --help/ },
  {
    args: ["send", "demo · Echo", "x"],
    says: /Cannot send to "demo · Echo": no session has .*: svc sessions/,
  },
  {
    args: ["send", "svc-a", "x", "--device", "laptop"],
    says: /Cannot send to "laptop": .*dev_.*svc devices/,
  },
  { args: ["send", "svc-a", "x", "--wait", "soon"], says: /--wait takes a whole number from 10/ },
  { args: ["logs", "--lines", "many"], says: /--lines takes a whole number/ },
  { args: ["logs", "--json"], says: /--json goes with --audit/ },
  { args: ["keep", "--off"], says: /--off needs the session's name/ },
  { args: ["keep", "svc-a", "--json"], says: /Cannot change "svc-a" and list the marked sessions at once/ },
  { args: ["mute", "--json", "/tmp"], says: /Cannot mute "\/tmp" and list the muted directories at once/ },
  { args: ["listener", "--stop", "--restart"], says: /exclude each other/ },
  { args: ["listener", "--ws-url", "foo"], says: /"foo" \(--ws-url\).*must be ws:\/\// },
  { args: ["listener", "--restart", "--ws-url", "http://x"], says: /"http:\/\/x" \(--ws-url\).*must be ws:/ },
  {
    args: ["service", "install", "listener", "--dry-run", "--", "--listen", "127.0.0.1:1"],
    says: /Cannot use "--listen 127\.0\.0\.1:1" for the listener: what follows -- is for svc server/,
  },
  { args: ["completions", "tcsh"], says: /the shells are bash, zsh, fish/ },
];

Deno.test("wrong usage exits 2 and says on stderr what is accepted [cli-exit, cli-error-next]", async (t) => {
  await using sandbox = await makeSandbox();
  for (const { args, says } of MISUSES) {
    await t.step(`svc ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await runSvc(sandbox, args);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, says);
    });
  }
});

Deno.test("svc logs takes any whole number of lines, also one that asks for all of them [cli-logs]", async () => {
  await using sandbox = await makeSandbox();
  await Deno.mkdir(sandbox.svcHome, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(`${sandbox.svcHome}/listener.log`, "one\ntwo\n", { mode: 0o600 });
  for (const [count, shown] of [["1", "two\n"], ["1000000", "one\ntwo\n"], ["9".repeat(400), "one\ntwo\n"]]) {
    const { stdout, stderr } = await runSvc(sandbox, ["logs", "--lines", String(count)]);
    assert.deepEqual([stdout, stderr], [shown, ""]);
  }
});

Deno.test("a message over the limit is refused with its size, before anything is sealed [cli-send]", async () => {
  await using sandbox = await makeSandbox();
  const stdin = "é".repeat(BODY_MAX_BYTES / 2 + 1);
  const { code, stderr } = await runSvc(sandbox, ["send", "svc-a"], { stdin });
  assert.equal(code, 2);
  assert.match(stderr, /^svc: Cannot send the message: it has 16386 bytes, and at most 16384 can be sent\./);
  const longest = await runSvc(sandbox, ["send", "svc-a"], { stdin: stdin.slice(1) });
  assert.match(longest.stderr, /Cannot reach the relay/);
});

Deno.test("a message that is not UTF-8 is refused, not typed with replacement characters [cli-send]", async () => {
  await using sandbox = await makeSandbox();
  const launch = ["sh", "-c", `printf 'caf\\351' | "$0" "$@"`, ...SVC];
  const { code, stderr } = await runSvc(sandbox, ["send", "svc-a"], { launch });
  assert.equal(code, 2);
  assert.match(stderr, /^svc: Cannot send the message: it is not UTF-8\./);
});

Deno.test("in a folder that is not a relay's no keys or devices are listed or changed, and no store is created [cli-error-next]", async () => {
  await using sandbox = await makeSandbox();
  const data = `${sandbox.root}/mistyped`;
  for (
    const args of [["keys", "list", "--json"], ["keys", "revoke", "key_1"], ["devices", "release", "dev_1"]]
  ) {
    const { code, stdout, stderr } = await runSvc(sandbox, [...args, "--data", data]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^svc: Cannot use ".*mistyped": no relay has kept anything there\./);
  }
  await assert.rejects(Deno.stat(data));
});

Deno.test("a failure exits 1 and says on stderr what to do next [cli-exit, cli-error-next]", async (t) => {
  await using sandbox = await makeSandbox();
  const failures: Misuse[] = [
    { args: ["sessions"], says: /the relay's address is not known\. Run svc up/ },
    { args: ["send", "svc-a", "hello"], says: /Run svc up, or put wsUrl/ },
    { args: ["listener"], says: /WebSocket address is not known\. Run svc up/ },
    { args: ["logs"], says: /nothing was written there yet\. Start the listener/ },
    { args: ["mute", "/nowhere"], says: /Cannot find the directory "\/nowhere"/ },
  ];
  for (const { args, says } of failures) {
    await t.step(`svc ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await runSvc(sandbox, args);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, says);
    });
  }
});

Deno.test("a file in place of SVC_HOME is reported with what to do about it [cli-error-next]", async (t) => {
  await using sandbox = await makeSandbox();
  const file = `${sandbox.root}/file`;
  await Deno.writeTextFile(file, "");
  for (const args of [["mute"], ["setup"], ["up", "--listen", "127.0.0.1:0"]]) {
    await t.step(`svc ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await runSvc(sandbox, args, { env: { SVC_HOME: file } });
      const said = `it is not a directory. Move it away, or set SVC_HOME to a directory of your own.`;
      assert.deepEqual([code, stdout, stderr], [1, "", `svc: Cannot use "${file}": ${said}\n`]);
    });
  }
});

Deno.test("a TMPDIR that does not exist is reported with what to do about it [cli-error-next]", async () => {
  await using sandbox = await makeSandbox();
  const TMPDIR = `${sandbox.root}/gone`;
  const args = ["up", "--demo", "--listen", "127.0.0.1:0"];
  const { code, stderr } = await runSvc(sandbox, args, { env: { TMPDIR } });
  assert.equal(code, 1);
  assert.match(stderr, /Cannot make a temporary folder in ".*\/gone": .*\. Set TMPDIR to a folder that /);
});

Deno.test("a directory of other files as SVC_HOME is refused, and nothing in it changes [sec-home-foreign]", async (t) => {
  await using sandbox = await makeSandbox();
  const [home, script] = [sandbox.project, `${sandbox.project}/run.sh`];
  await Deno.writeTextFile(script, "#!/bin/sh\n");
  await Deno.chmod(script, 0o755);
  // svc up that starts would run until it is stopped.
  const launch = ["timeout", "60", ...SVC];
  const listen = ["--listen", "127.0.0.1:0"];
  const create = ["keys", "create", "--name", "x", "--scope", "admin"];
  for (const args of [["mute"], ["setup"], ["verify"], ["up", ...listen], ["server", ...listen], create]) {
    await t.step(`svc ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await runSvc(sandbox, args, { launch, env: { SVC_HOME: home } });
      assert.equal(code, 1);
      assert.match(stdout + stderr, /it has other files\. Set SVC_HOME to a new or empty directory/);
      assert.equal((Deno.statSync(script).mode ?? 0) & 0o777, 0o755);
      assert.deepEqual([...Deno.readDirSync(home)].map(({ name }) => name), ["run.sh"]);
    });
  }
});

Deno.test("a home that cannot be written is reported with what to do about it [cli-error-next]", async (t) => {
  await using sandbox = await makeSandbox();
  // No account can make a folder there.
  const home = "/sys/svc";
  for (const args of [["mute"], ["setup"], ["up", "--listen", "127.0.0.1:0"]]) {
    await t.step(`svc ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await runSvc(sandbox, args, { env: { SVC_HOME: home } });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(
        stderr,
        /^svc: Cannot use "\/sys\/svc": .*\. Give it to your account, or set SVC_HOME /,
      );
    });
  }
});

Deno.test("a disk that is full is reported with what to do about it [cli-error-next]", async () => {
  await using sandbox = await makeSandbox();
  const launch = ["sh", "-c", '"$0" "$@" > /dev/full', ...SVC];
  const { code, stderr } = await runSvc(sandbox, ["--help"], { launch });
  assert.equal(code, 1);
  assert.match(stderr, /^svc: .*o space left on device.*\. Make room on that disk, /);
});

Deno.test("without a relay keys are neither listed nor revoked, and no store is created [cli-keys]", async () => {
  await using sandbox = await makeSandbox();
  const listed = await runSvc(sandbox, ["keys", "list", "--json"]);
  assert.deepEqual([listed.code, listed.stdout], [0, "[]\n"]);
  const revoked = await runSvc(sandbox, ["keys", "revoke", "key_1"]);
  assert.equal(revoked.code, 1);
  assert.match(revoked.stderr, /no working key has this id\. See: svc keys list/);
  await assert.rejects(Deno.stat(`${sandbox.svcHome}/server`), Deno.errors.NotFound);
});

Deno.test("nothing is written outside SVC_HOME, and ~/.svc is the default [cli-home]", async () => {
  await using sandbox = await makeSandbox();
  await runSvc(sandbox, ["mute"], { env: { SVC_HOME: `${sandbox.root}/elsewhere` } });
  assert.deepEqual([...Deno.readDirSync(sandbox.home)], []);
  assert.ok(Deno.statSync(`${sandbox.root}/elsewhere/muted.json`).isFile);
  await runSvc(sandbox, ["mute"], { env: { SVC_HOME: "" } });
  assert.ok(Deno.statSync(`${sandbox.home}/.svc/muted.json`).isFile);
});

/** Writes the lines of each file, as the listener leaves them after rotations. */
async function writeRotated(path: string, files: Record<string, string[]>): Promise<void> {
  for (const [age, lines] of Object.entries(files)) {
    await Deno.writeTextFile(`${path}${age}`, lines.map((line) => `${line}\n`).join(""));
  }
}

Deno.test("svc logs continues into the rotated files, and prints nothing for an empty one [cli-logs, ls-audit-shown]", async (t) => {
  await using sandbox = await makeSandbox();
  await Deno.mkdir(sandbox.svcHome, { recursive: true });
  const logs: [string, string[]][] = [["listener.log", []], ["audit.jsonl", ["--audit"]]];
  for (const [file, options] of logs) {
    await t.step(`svc ${["logs", ...options].join(" ")}`, async () => {
      const path = `${sandbox.svcHome}/${file}`;
      const shown = async (count: number): Promise<string> => {
        const { code, stdout, stderr } = await runSvc(sandbox, ["logs", ...options, "-n", String(count)]);
        assert.deepEqual([code, stderr], [0, ""]);
        return stdout;
      };
      await writeRotated(path, { "": [] });
      assert.equal(await shown(50), "");
      await writeRotated(path, { ".1": ["d", "e"], ".3": ["a", "b", "c"] });
      assert.equal(await shown(50), "a\nb\nc\nd\ne\n");
      await writeRotated(path, { "": ["f"], ".2": [] });
      assert.equal(await shown(4), "c\nd\ne\nf\n");
      assert.equal(await shown(2), "e\nf\n");
      assert.equal(await shown(1), "f\n");
      assert.equal(await shown(0), "");
      await Deno.remove(path);
      assert.equal(await shown(3), "c\nd\ne\n");
    });
  }
});

Deno.test("svc logs -f starts in the rotated files as well [cli-logs]", async () => {
  await using sandbox = await makeSandbox();
  await Deno.mkdir(sandbox.svcHome, { recursive: true });
  const path = `${sandbox.svcHome}/listener.log`;
  await writeRotated(path, { "": ["c"], ".1": ["a", "b"] });
  for (const [count, before] of [["2", "b\nc\n"], ["1", "c\n"]] as const) {
    const following = startSvc(sandbox, ["logs", "-f", "-n", count]);
    await following.line(/^c$/m);
    await Deno.writeTextFile(path, "d\n", { append: true });
    await following.line(/^d$/m);
    assert.equal(following.output(), `${before}d\n`);
    following.kill("SIGINT");
    await following.exited;
    await writeRotated(path, { "": ["c"] });
  }
});

Deno.test("svc keys create accepts several --scope options, each of which may be a list [cli-keys]", async () => {
  await using sandbox = await makeSandbox();
  const scopes = ["--scope", "push:send", "--scope", "push:read,admin"];
  const made = await runSvc(sandbox, ["keys", "create", "--name", "a", ...scopes, "--json"]);
  assert.deepEqual(JSON.parse(made.stdout).scopes, ["push:send", "push:read", "admin"]);
  const wrong = await runSvc(sandbox, ["keys", "create", "--name", "a", "--scope", "all", ...scopes]);
  assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
  assert.match(wrong.stderr, /Cannot give the scope "all": --scope takes push:send, push:read, admin/);
});

Deno.test("mute and unmute print what they did, and to which project [cli-mute, cli-json]", async () => {
  await using sandbox = await makeSandbox();
  const project = await Deno.realPath(sandbox.project);
  assert.equal((await runSvc(sandbox, ["mute"])).stdout, `${project} is now muted. To undo it: svc unmute\n`);
  assert.equal(
    (await runSvc(sandbox, ["mute", "."])).stdout,
    `${project} is already muted. To undo it: svc unmute ${project}\n`,
  );
  assert.deepEqual(JSON.parse((await runSvc(sandbox, ["mute", "--list", "--json"])).stdout), [project]);
  assert.equal((await runSvc(sandbox, ["unmute"])).stdout, `${project} is no longer muted.\n`);
  assert.equal((await runSvc(sandbox, ["mute", "--list"])).stdout, "");
});

Deno.test("svc unmute fails for a project below a muted folder, and names the command that helps [cli-mute]", async () => {
  await using sandbox = await makeSandbox();
  const project = await Deno.realPath(sandbox.project);
  const above = project.slice(0, project.lastIndexOf("/"));
  for (const directory of [above, project]) await runSvc(sandbox, ["mute", directory]);
  const silent = `: ${above} is muted, and with it everything below it. Run: svc unmute ${above}\n`;
  const first = await runSvc(sandbox, ["unmute"]);
  assert.deepEqual([first.code, first.stdout], [1, ""]);
  assert.equal(first.stderr, `svc: ${project} is no longer muted itself, but stays silent${silent}`);
  const second = await runSvc(sandbox, ["unmute"]);
  assert.deepEqual([second.code, second.stderr], [1, `svc: ${project} stays muted${silent}`]);
  const undone = await runSvc(sandbox, ["unmute", above]);
  assert.deepEqual([undone.code, undone.stdout], [0, `${above} is no longer muted.\n`]);
  assert.equal((await runSvc(sandbox, ["unmute"])).code, 0);
});

Deno.test("svc mute --json lists and mutes nothing; a directory with a space can be unmuted as the hint says, even after it was deleted [cli-mute, cli-json]", async () => {
  await using sandbox = await makeSandbox();
  assert.deepEqual(JSON.parse((await runSvc(sandbox, ["mute", "--json"])).stdout), []);
  const project = await Deno.realPath(sandbox.project);
  const [other, link] = [`${project}/an other`, `${sandbox.root}/link`];
  await Deno.mkdir(other);
  await Deno.symlink(project, link);
  assert.equal(
    (await runSvc(sandbox, ["mute", "an other"])).stdout,
    `${other} is now muted. To undo it: svc unmute '${other}'\n`,
  );
  await Deno.remove(other);
  assert.match((await runSvc(sandbox, ["unmute", `${project}/never`])).stderr, /Cannot find the directory/);
  assert.equal(
    (await runSvc(sandbox, ["unmute", `${link}/an other/`])).stdout,
    `${other} is no longer muted.\n`,
  );
  assert.deepEqual(JSON.parse((await runSvc(sandbox, ["mute", "--json"])).stdout), []);
  await Deno.mkdir(other);
  await runSvc(sandbox, ["mute", "an other"]);
  await Deno.remove(other);
  assert.equal((await runSvc(sandbox, ["unmute", "an other"])).stdout, `${other} is no longer muted.\n`);
});

Deno.test("colors appear on a terminal, and never with NO_COLOR or on a dumb one [cli-color]", async () => {
  await using bench = await makeWrapperBench();
  const color = /\x1b\[31m/;
  assert.doesNotMatch((await bench.svc(["verify"])).stdout, color);
  const plain = await bench.terminal(["verify"]);
  await plain.exitCode();
  assert.doesNotMatch(await plain.screen(), color);
  const dumb = await bench.terminal(["verify"], { env: { NO_COLOR: "", TERM: "dumb" } });
  await dumb.exitCode();
  assert.doesNotMatch(await dumb.screen(), color);
  const colored = await bench.terminal(["verify"], { env: { NO_COLOR: "" } });
  await colored.exitCode();
  assert.match(await colored.screen(), color);
});
