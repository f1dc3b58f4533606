/** The echo agent at work: feeds events to the state, draws it, and carries out its effects in order. */
import { type EchoHost, ESCAPE_WAIT_MS } from "./host.ts";
import { type Key, KeyReader } from "./keys.ts";
import { EchoScreen } from "./screen.ts";
import { type EchoEvent, type EchoState, type Effect, IDLE, step } from "./state.ts";
import { banner, displayable, type Footer, footer, receiptLines } from "./view.ts";

export class EchoProgram {
  #host: EchoHost;
  #screen: EchoScreen;
  #keys = new KeyReader();
  #state: EchoState = IDLE;
  /** Effects that take time, one after the other. */
  #pending: Promise<void> = Promise.resolve();
  #cancelWork = (): void => {};
  #cancelEscape = (): void => {};
  #isOver = Promise.withResolvers<void>();

  constructor(host: EchoHost) {
    this.#host = host;
    this.#screen = new EchoScreen(host.output);
  }

  /** Runs until a person leaves, the input ends, or `leave` is called. */
  async run(): Promise<void> {
    const keys = this.#host.input[Symbol.asyncIterator]();
    // The first read makes the terminal raw: from here on no key is echoed or taken for a line.
    const reading = this.#readAll(keys);
    this.#screen.open(`echo · ${displayable(this.#host.directory).split("/").pop()}`);
    this.#draw(banner(this.#host.version, this.#host.directory));
    this.#host.report("SessionStart");
    await Promise.race([reading, this.#isOver.promise]);
    this.#cancelWork();
    this.#cancelEscape();
    await this.#pending;
    this.#screen.close();
    await keys.return?.();
  }

  leave(): void {
    this.#isOver.resolve();
  }

  /** The terminal has another size. */
  resized(): void {
    this.#screen.redraw(this.#footer());
  }

  /** The effect of an event is drawn when this returns; what takes time follows. */
  dispatch(event: EchoEvent): void {
    const { state, effects } = step(this.#state, event);
    this.#state = state;
    this.#draw([]);
    for (const effect of effects) this.#carryOut(effect);
  }

  /** The same, with the wait that an agent's hook puts before a dialog. */
  async dispatchGated(event: EchoEvent): Promise<void> {
    if (event.kind === "permit") await this.#host.gate();
    this.dispatch(event);
  }

  async #readAll(keys: AsyncIterator<Uint8Array>): Promise<void> {
    for (;;) {
      const { value, done } = await keys.next();
      if (done) return;
      this.#take(this.#keys.push(value));
      this.#cancelEscape();
      if (!this.#keys.isWaiting) continue;
      this.#cancelEscape = this.#host.after(ESCAPE_WAIT_MS, () => this.#take(this.#keys.flush()));
    }
  }

  #take(keys: readonly Key[]): void {
    for (const key of keys) this.dispatch(key);
  }

  #draw(lines: readonly string[]): void {
    this.#screen.draw(lines, this.#footer());
  }

  #footer(): Footer {
    return footer(this.#state, this.#host.output.size().columns);
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case "work":
        return this.#work(effect.seconds);
      case "stopWork":
        this.#cancelWork();
        this.#host.report("Stop");
        return this.#note(effect.interrupted ? "interrupted" : "done");
      case "note":
        return this.#note(effect.text);
      case "submit":
        return this.#later(() => this.#submit(effect.prompt));
      case "command":
        return this.#record({ command: effect.command });
      case "dialogOpened":
        return this.#host.report("PermissionRequest");
      case "dialogAnswered":
        this.#note(effect.approved ? "allowed" : "not allowed");
        this.#record({ approved: effect.approved, by: effect.by });
        return this.#host.report(this.#state.isWorking ? "PostToolUse" : "Stop");
      case "dialogInput":
        return this.#record({ dialogInput: effect.text });
      case "leave":
        return this.leave();
    }
  }

  #work(seconds: number): void {
    this.#cancelWork();
    this.#cancelWork = this.#host.after(seconds * 1_000, () => this.dispatch({ kind: "worked" }));
    this.#host.report("UserPromptSubmit");
  }

  /** As an agent's prompt hook does, it takes the marker first, and then shows the prompt. */
  async #submit(prompt: string): Promise<void> {
    this.#draw(receiptLines(await this.#host.receive(prompt)));
    this.#host.report("UserPromptSubmit");
    if (!this.#state.isWorking) this.#host.report("Stop");
  }

  #record(fact: Parameters<EchoHost["record"]>[0]): void {
    this.#later(() => this.#host.record(fact));
  }

  #note(text: string): void {
    this.#draw([`· ${text}`, ""]);
  }

  /** In order; a failure is said and ends nothing. */
  #later(task: () => Promise<void>): void {
    this.#pending = this.#pending.then(task).catch((error: unknown) =>
      this.#note(error instanceof Error ? error.message : String(error))
    );
  }
}
