/** A hook of Claude's that waits with a request for permission and can be killed. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import type { DialogAnswer } from "../../src/agents/hooks.ts";
import type { LineConnection } from "../../src/runtime/types.ts";
import type { Stack } from "./stack.ts";

export class WaitingHook {
  readonly command: string;
  readonly id = crypto.randomUUID();
  readonly #connection: LineConnection;
  /** The answer to the hook; undefined if it got none. */
  readonly answer: Promise<DialogAnswer | undefined>;

  private constructor(connection: LineConnection, command: string) {
    this.#connection = connection;
    this.command = command;
    this.answer = this.#read();
  }

  static async start(stack: Stack, session: string, command: string): Promise<WaitingHook> {
    const connection = await runtime.sockets.connect(`${stack.sandbox.svcHome}/listener.sock`);
    assert.ok(connection);
    const hook = new WaitingHook(connection, command);
    // An allowed call runs to its end.
    void hook.answer.then((answer) => answer && hook.ended(stack, session));
    const decisions = ["once", "always", "reject"];
    const dialog = { kind: "approval", tool: "Bash", request: command, decisions };
    await connection.send(
      JSON.stringify({ op: "dialog", report: hook.#report(stack, session), call: { isShown: true, dialog } }),
    );
    return hook;
  }

  /** Sends the agent's report at the end of the call, whoever allowed it. */
  async ended(stack: Stack, session: string): Promise<void> {
    const connection = await runtime.sockets.connect(`${stack.sandbox.svcHome}/listener.sock`);
    const report = {
      ...this.#report(stack, session),
      event: "PostToolUse",
      tool: { step: "after", id: this.id },
    };
    await connection?.send(JSON.stringify({ op: "hook", report }));
    for await (const _taken of connection?.lines ?? []) break;
  }

  kill(): void {
    this.#connection.close();
  }

  #report({ sandbox }: Stack, session: string): Record<string, unknown> {
    return {
      event: "PermissionRequest",
      agent: "cc",
      cwd: sandbox.project,
      session,
      tool: { step: "before", id: this.id },
    };
  }

  async #read(): Promise<DialogAnswer | undefined> {
    for await (const line of this.#connection.lines) return JSON.parse(line).answer;
    return undefined;
  }
}
