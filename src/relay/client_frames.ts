/** What a greeted client's frames do. Events that are not for the relay from this role are ignored and counted. */
import type { EventData, Frame } from "../protocol/frames.ts";
import { StoreUnavailable } from "../store/store.ts";
import { takeAskerAck } from "./asks_acks.ts";
import type { Connection } from "./connection.ts";
import { acknowledged } from "./receipt_transition.ts";
import { changeReceipt } from "./receipts.ts";
import type { Services } from "./services.ts";
import { keepInventory, tellSessions } from "./sessions.ts";

/** A frame from this client. `re` of an answer is the id of the frame. */
export interface Received<F extends Frame = Frame> {
  connection: Connection;
  frame: F;
}

export function handleFrame(services: Services, { connection, frame }: Received): void {
  switch (frame.event) {
    case "ping":
      return connection.sendFrame("pong", {}, answering(frame));
    case "pong":
      return;
    case "push.ack":
      return services.tasks.run(takeAck(services, { connection, frame }));
    case "listener.sessions":
      return services.tasks.run(takeSessions(services, { connection, frame }));
    case "pane.open":
    case "pane.opened":
    case "pane.closed":
    case "pane.credit":
    case "pane.scrollback":
      return handlePane(services, { connection, frame });
    case "hello":
    case "welcome":
    case "push.new":
    case "push.updated":
    case "listener.stored":
    case "listener.rejected":
    case "sessions.changed":
      return services.metrics.unknownEvents.add();
    default:
      frame satisfies never;
  }
}

type PaneFrame = Extract<Frame, { event: `pane.${string}` }>;

/** A listener opens nothing and takes no credit; a phone answers nothing. */
function handlePane(services: Services, { connection, frame }: Received<PaneFrame>): void {
  const { streams, metrics, tasks } = services;
  const isListener = connection.greeted?.role === "listener";
  switch (frame.event) {
    case "pane.closed":
      return streams.closed(connection, frame.data);
    case "pane.opened":
      return isListener ? streams.opened(connection, frame.data) : metrics.strayFrames.add();
    case "pane.open":
      return isListener ? metrics.strayFrames.add() : tasks.run(streams.open(connection, frame.data));
    case "pane.credit":
    case "pane.scrollback":
      return isListener ? metrics.strayFrames.add() : streams.ask(connection, frame.event, frame.data);
    default:
      frame satisfies never;
  }
}

/** The id of a report whose data was bad is answered too, so that the listener can say why. */
export function rejectSessions(
  connection: Connection,
  { id, detail }: { id?: string | undefined; detail: string },
): void {
  connection.sendFrame("listener.rejected", { reason: detail }, id === undefined ? {} : { re: id });
}

/** Only the listener that the push is for can close it; a script has its say about its questions. */
async function takeAck(
  services: Services,
  { connection, frame }: Received<Extract<Frame, { event: "push.ack" }>>,
): Promise<void> {
  const { account, greeted, outbox } = connection;
  if (greeted?.role === "script") {
    const device = { account, id: greeted.deviceId };
    return await takeAskerAck(services, { device, ack: frame.data });
  }
  if (greeted?.role !== "listener") return services.metrics.unknownEvents.add();
  const { id, ...ack }: EventData<"push.ack"> = frame.data;
  const now = services.clock.now();
  await changeReceipt(services, {
    push: { account, id },
    decide: ({ target, receipt }) =>
      target === greeted.deviceId ? acknowledged(receipt, ack, now) : undefined,
  });
  // Only once it is kept: a word that was lost with the store is asked for again.
  outbox?.acknowledged(id);
  services.hub.fill(connection);
}

async function takeSessions(
  services: Services,
  { connection, frame }: Received<Extract<Frame, { event: "listener.sessions" }>>,
): Promise<void> {
  const { account, greeted } = connection;
  const { sessions } = frame.data;
  if (greeted?.role !== "listener") {
    return rejectSessions(connection, { id: frame.id, detail: "not a listener" });
  }
  const device = { account, id: greeted.deviceId };
  try {
    await keepInventory(services, { device, sessions });
  } catch (error) {
    const detail = error instanceof StoreUnavailable ? "store_unavailable" : "internal";
    rejectSessions(connection, { id: frame.id, detail });
    throw error;
  }
  connection.sendFrame("listener.stored", { count: sessions.length }, answering(frame));
  await tellSessions(services, device);
}

function answering({ id }: Frame): { re?: string } {
  return id === undefined ? {} : { re: id };
}
