/** What the commands print of a lying relay's words: they add no line, and control no terminal. */
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { runSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";

const FORGED = "x\r\nListener  forged\u001b]0;title\u0007\u001b[2m";

/** Answers `/healthz` with this version, and everything else with a refusal in these words. */
async function lyingRelay(version: string): Promise<{ url: string } & AsyncDisposable> {
  const answer = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    if (request.url === "/healthz") return answer(response, 200, { status: "ok", version });
    if (request.url === "/sessions" && version === FORGED) return answer(response, 200, { devices: [] });
    const problem = { type: "urn:x", title: FORGED, status: 403, code: "wrong_role", detail: FORGED };
    answer(response, 403, { ...problem, errors: [{ pointer: FORGED, detail: FORGED }] });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

Deno.test("a relay's version and refusals add no line to what a command prints [flood-unseen]", async () => {
  await using sandbox = await makeSandbox();
  for (const version of [FORGED, "1.0.0"]) {
    await using relay = await lyingRelay(version);
    const env = { SVC_BASE_URL: relay.url, SVC_API_KEY: `svc_${"a".repeat(43)}` };
    for (const args of [["status"], ["sessions"], ["devices"], ["verify"]]) {
      const { stdout, stderr } = await runSvc(sandbox, args, { env });
      const shown = stdout + stderr;
      assert.doesNotMatch(shown, /^Listener {2}forged/m, `svc ${args.join(" ")}`);
      assert.doesNotMatch(shown, /[\u001b\u0007\r]/, `svc ${args.join(" ")}`);
    }
  }
});
