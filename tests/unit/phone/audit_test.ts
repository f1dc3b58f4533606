/** A host's audit log as a phone reads it: page by page, again after a break, and only with the pairing's secret. */
import assert from "node:assert/strict";
import { AuditLog, auditSession, type AuditState } from "../../../src/phone/views/audit.tsx";
import type { HostSession } from "../../../src/phone/sessions.ts";
import type { TerminalViewer } from "../../../src/phone/terminal_streams.ts";
import { ASK_AGAIN_MS, SILENT_MS } from "../../../src/phone/whole_request.ts";
import type { AuditEntry } from "../../../src/protocol/audit.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

const LIVE = { kind: "live", sealing: "psk", size: { cols: 80, rows: 24 } } as const;

function entry(length: number): AuditEntry {
  const digest = "ab".repeat(32);
  return {
    time: "2026-11-20T00:00:00.000Z",
    device: "d",
    session: "s",
    pane: "%1",
    digest,
    length,
    outcome: "submitted",
  };
}

/** A stream, and the requests on it. */
class Bench {
  readonly clock = new FakeClock();
  readonly asked: number[] = [];
  viewer: TerminalViewer | undefined;
  state: AuditState | undefined;
  opened = 0;
  closed = 0;
  readonly log = new AuditLog({
    session: { deviceId: "dev_listener", session: "svc-demo" },
    clock: this.clock,
    onState: (state) => void (this.state = state),
    open: (_name, viewer) => {
      this.opened++;
      this.viewer = viewer;
      return {
        upload: (input) => {
          assert.ok(input.type === "audit.read");
          this.asked.push(input.skip);
          return Promise.resolve();
        },
        close: () => void this.closed++,
      };
    },
  });

  page(skip: number, lengths: number[], more: boolean): void {
    this.viewer?.onStatus({ audit: { skip, entries: lengths.map(entry), more } });
  }

  get seen(): unknown {
    return [this.state?.kind, this.state?.entries.map(({ length }) => length), this.state?.more];
  }
}

Deno.test("pages follow one another; a repeated or late answer changes nothing [ls-audit-phone]", () => {
  const bench = new Bench();
  bench.log.readOlder();
  assert.deepEqual([bench.seen, bench.asked], [["reading", [], true], []]);
  bench.viewer?.onState(LIVE);
  bench.page(0, [9, 8], true);
  bench.page(0, [9, 8], true);
  assert.deepEqual(bench.seen, ["read", [9, 8], true]);
  bench.log.readOlder();
  bench.page(0, [9, 8], true);
  bench.page(2, [7], false);
  assert.deepEqual([bench.seen, bench.asked, bench.opened], [["read", [9, 8, 7], false], [0, 2], 1]);
  bench.log.close();
  assert.equal(bench.closed, 1);
});

Deno.test("a host that does not answer is asked again, even on a new stream, and finally given up; a retry opens a new one [ls-audit-phone]", () => {
  const bench = new Bench();
  bench.log.readOlder();
  bench.viewer?.onState(LIVE);
  bench.clock.advance(ASK_AGAIN_MS);
  bench.viewer?.onState({ kind: "opening" });
  bench.clock.advance(ASK_AGAIN_MS);
  assert.deepEqual(bench.asked, [0, 0], "not while the stream is being opened");
  bench.viewer?.onState(LIVE);
  assert.deepEqual(bench.asked, [0, 0, 0]);
  bench.clock.advance(SILENT_MS);
  assert.deepEqual([bench.seen, bench.closed], [["failed", [], true], 1]);
  bench.log.readOlder();
  bench.viewer?.onState(LIVE);
  bench.page(0, [1], false);
  assert.deepEqual([bench.seen, bench.opened], [["read", [1], false], 2]);
});

Deno.test("without the pairing's secret nothing is requested [ls-audit-phone]", () => {
  const bench = new Bench();
  bench.log.readOlder();
  bench.viewer?.onState({ ...LIVE, sealing: "base" });
  assert.deepEqual([bench.seen, bench.asked, bench.closed], [["unpaired", [], true], [], 1]);
});

Deno.test("a stream that cannot be opened again ends the reading; an ended session is not asked [ls-audit-phone]", () => {
  const bench = new Bench();
  bench.log.readOlder();
  bench.viewer?.onState({ kind: "ended", reason: "pane_gone", lasting: true });
  assert.deepEqual(bench.seen, ["failed", [], true]);
  const session = (name: string, state: string): HostSession =>
    ({ deviceId: "dev_listener", entry: { name, state } }) as HostSession;
  assert.equal(auditSession([session("svc-a", "exited")]), undefined);
  assert.deepEqual(auditSession([session("svc-a", "exited"), session("svc-b", "idle")]), {
    deviceId: "dev_listener",
    session: "svc-b",
  });
});
