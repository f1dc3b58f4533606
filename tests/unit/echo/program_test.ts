/** The echo agent's reports to the listener. */
import assert from "node:assert/strict";
import { makeReporter, REPORTS_MAX } from "../../../src/echo/program.ts";
import type { LineConnection } from "../../../src/runtime/types.ts";
import { until } from "../../helpers/until.ts";

const WHERE = { agent: "echo", cwd: "/p", session: "svc-p" };

/** A control socket that records reports and answers them once `open` resolves. */
function makeSockets(open: Promise<void> = Promise.resolve()) {
  const reported: unknown[] = [];
  const connect = (): Promise<LineConnection> =>
    Promise.resolve({
      lines: (async function* () {
        await open;
        yield '{"ok":true}';
      })(),
      send: (line) => Promise.resolve(void reported.push(JSON.parse(line))),
      close: () => {},
    });
  return { reported, sockets: { connect } };
}

Deno.test("echo reports: each event is reported in order, as a hook would", async () => {
  const { reported, sockets } = makeSockets();
  const { report } = makeReporter({ sockets, path: "/s", where: WHERE });
  for (const event of ["UserPromptSubmit", "Stop"]) report(event);
  await until("both reports", () => reported.length === 2);
  assert.deepEqual(
    reported,
    [["UserPromptSubmit", "working"], ["Stop", "idle"]].map(([event, state]) => {
      return { op: "hook", report: { ...WHERE, event, state, gates: true } };
    }),
  );
});

Deno.test("echo reports: a listener that hangs gets a bounded number of them", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { reported, sockets } = makeSockets(promise);
  const { report } = makeReporter({ sockets, path: "/s", where: WHERE });
  for (let count = 0; count < REPORTS_MAX * 3; count++) report("Stop");
  resolve();
  await until("the reports that were kept", () => reported.length === REPORTS_MAX);
  report("Stop");
  await until("one more, now that there is room", () => reported.length === REPORTS_MAX + 1);
});

Deno.test("echo reports: a missing or failing listener does no harm", async () => {
  let asked = 0;
  const connect = (): Promise<undefined> => {
    asked += 1;
    return asked === 1 ? Promise.reject(new Error("refused")) : Promise.resolve(undefined);
  };
  const { report } = makeReporter({ sockets: { connect }, path: "/s", where: WHERE });
  report("Stop");
  report("Stop");
  await until("both attempts", () => asked === 2);
});
