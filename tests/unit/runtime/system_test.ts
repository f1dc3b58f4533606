/** Functions of the operating system that both runtimes share. */
import assert from "node:assert/strict";
import {
  directHosts,
  folderOf,
  homeFrom,
  lanAddressAmong,
  nodeProblem,
  nodeProxies,
  shellLine,
  shellQuote,
  shellWords,
  temporaryFrom,
  writeFully,
} from "../../../src/runtime/system.ts";

Deno.test("the home is used as it is set, and never guessed", () => {
  assert.equal(homeFrom("/home/me"), "/home/me");
  assert.throws(() => homeFrom(undefined), /HOME is not set; set it to an absolute path/);
  assert.throws(() => homeFrom("me"), /HOME is "me"/);
});

Deno.test("the folder of a path is the root's for a name below it, and the working directory for a name alone", () => {
  const paths = ["/home/me/x", "/x", "/", "a/x", "x"];
  assert.deepEqual(paths.map(folderOf), ["/home/me", "/", "/", "a", "."]);
});

Deno.test("the temporary directory has no slash at its end", () => {
  assert.equal(temporaryFrom("/var/folders/x/T/"), "/var/folders/x/T");
  assert.equal(temporaryFrom("/"), "/");
  assert.equal(temporaryFrom(undefined), "/tmp");
  assert.equal(temporaryFrom("relative"), "/tmp");
});

Deno.test("a command for copying has quotes where a shell needs them", () => {
  assert.equal(shellLine(["svc", "send", "--as", "/ci.json"]), "svc send --as /ci.json");
  assert.equal(shellLine(["chmod", "600", "it's my ci.json", ""]), `chmod 600 'it'\\''s my ci.json' ''`);
});

Deno.test("the address for the phone is neither loopback nor a container's bridge [up-addresses]", () => {
  const loopback = { name: "lo", family: "IPv4", address: "127.0.0.1" };
  const bridge = { name: "docker0", family: "IPv4", address: "172.17.0.1" };
  const six = { name: "eth0", family: "IPv6", address: "fd00::2" };
  const four = { name: "eth0", family: "IPv4", address: "192.168.1.5" };
  assert.equal(lanAddressAmong([loopback, bridge, six, four]), "192.168.1.5");
  assert.equal(lanAddressAmong([loopback, bridge, six]), undefined);
});

Deno.test("short writes are continued and a full pipe is retried", () => {
  const taken: number[] = [];
  let calls = 0;
  writeFully((bytes) => {
    if (++calls % 2 === 0) throw Object.assign(new Error("full"), { code: "EAGAIN" });
    taken.push(...bytes.subarray(0, 2));
    return Math.min(2, bytes.length);
  }, new Uint8Array([1, 2, 3, 4, 5]));
  assert.deepEqual(taken, [1, 2, 3, 4, 5]);
});

Deno.test("another error is thrown unchanged", () => {
  const gone = Object.assign(new Error("gone"), { code: "EPIPE" });
  const write = (): number => {
    throw gone;
  };
  assert.throws(() => writeFully(write, new Uint8Array(1)), gone);
});

Deno.test("a command line of quoted words is parsed into the words", () => {
  const words = ["/home/o'brien/.svc/bin/svc", "a b", "'", '"$x"', "\\", "line\nline"];
  assert.deepEqual(shellWords(words.map(shellQuote).join(" ")), words);
  assert.deepEqual(shellWords(` sh "$HOME/a b" x\\ y 'it'"'"'s'  z`), [
    "sh",
    "$HOME/a b",
    "x y",
    "it's",
    "z",
  ]);
  assert.deepEqual(shellWords(""), []);
});

Deno.test("an older Node is reported, with the version that svc needs [run-node-old]", () => {
  assert.deepEqual(["22.16.0", "23.0.0", "24.2.0", "100.0.0"].filter(nodeProblem), []);
  assert.match(nodeProblem("22.15.1") ?? "", /this is Node 22\.15\.1/);
  assert.match(
    nodeProblem("20.20.2") ?? "",
    /^svc needs Node 22\.16 or newer; this is Node 20\.20\.2\. Install a newer one/,
  );
});

Deno.test("Node gets the proxies of either case, all_proxy for the rest, and never one for this machine [wrap-env]", () => {
  const direct = "localhost,127.0.0.0/8,127.0.0.1,0.0.0.0,::1,[::1],::,[::],192.168.1.5,fe80::1,[fe80::1]";
  const addresses = ["127.0.0.1", "192.168.1.5", "fe80::1"];
  assert.deepEqual(nodeProxies({ HTTP_PROXY: "http://a:1", https_proxy: "b:2", no_proxy: "x" }, addresses), {
    http_proxy: "http://a:1",
    https_proxy: "http://b:2",
    no_proxy: `x,${direct}`,
  });
  assert.deepEqual(nodeProxies({ ALL_PROXY: "https://c:3" }, addresses), {
    http_proxy: "https://c:3",
    https_proxy: "https://c:3",
    no_proxy: direct,
  });
  for (const useless of ["", " ", "socks5h://d:4", "http://u:secret@e:99999"]) {
    assert.equal(nodeProxies({ HTTP_PROXY: useless }, []), undefined, useless);
  }
  assert.equal(directHosts({ NO_PROXY: "*" }, addresses), "*");
});
