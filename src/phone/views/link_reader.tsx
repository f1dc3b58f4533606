/** Takes a pairing link from the camera or from a text field; and the view that adds a host to a signed-in phone. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { CameraError, type CameraProblem, scanQr } from "../qr_scanner.ts";
import { readLink, type SignInLink } from "../route.ts";
import { STRINGS } from "../strings.ts";
import { Command, PageHead, TextField } from "./shared.tsx";

const { addHost: TEXT } = STRINGS;

export interface LinkActions {
  /** Carries out a pairing link. */
  openLink(link: SignInLink): void;
  /** Carries out the link that was kept because the relay did not answer. */
  tryLinkAgain(): void;
}

export function AddHostView({ notice, actions }: { notice: JSX.Element; actions: LinkActions }): JSX.Element {
  return (
    <div class="page">
      <PageHead heading={TEXT.heading} back={TEXT.back} backTo={{ view: "settings" }} />
      <main class="picker add-host">
        <p class="lead">{TEXT.lead}</p>
        <Command text={TEXT.command} />
        <LinkReader actions={actions} />
      </main>
      {notice}
    </div>
  );
}

export function LinkReader({ actions }: { actions: LinkActions }): JSX.Element {
  const [scanning, setScanning] = useState(false);
  const [problem, setProblem] = useState<string>();
  const take = (text: string, otherwise: string): void => {
    const read = readLink(text, location.href);
    switch (read.kind) {
      case "link":
        setScanning(false);
        return actions.openLink(read.link);
      case "other_relay":
        return setProblem(TEXT.otherRelay(read.relay));
      case "none":
        return setProblem(otherwise);
    }
  };
  const onProblem = (camera: CameraProblem): void => {
    setScanning(false);
    setProblem(TEXT.camera[camera]);
  };
  const toggle = (): void => {
    setProblem(undefined);
    setScanning(!scanning);
  };
  return (
    <div class="link-reader">
      {scanning && <Camera onText={(text) => take(text, TEXT.notALink)} onProblem={onProblem} />}
      <button type="button" class={scanning ? "secondary" : "primary"} onClick={toggle}>
        {scanning ? TEXT.stop : TEXT.scan}
      </button>
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <PasteForm onText={(text) => take(text, TEXT.wrongLink)} />
    </div>
  );
}

interface CameraProps {
  onText(text: string): void;
  onProblem(problem: CameraProblem): void;
}

function Camera({ onText, onProblem }: CameraProps): JSX.Element {
  const video = useRef<HTMLVideoElement>(null);
  const latest = useRef({ onText, onProblem });
  latest.current = { onText, onProblem };
  useEffect(() => {
    const { current: element } = video;
    if (element === null) return;
    element.scrollIntoView({ block: "center" });
    const stop = new AbortController();
    const scanned = scanQr(element, { onText: (text) => latest.current.onText(text), signal: stop.signal });
    scanned.catch((error) => {
      if (!(error instanceof CameraError)) throw error;
      if (!stop.signal.aborted) latest.current.onProblem(error.problem);
    });
    return () => stop.abort();
  }, []);
  return (
    <div class="camera">
      <video ref={video} playsInline muted aria-label={TEXT.aim} />
      <p role="status">{TEXT.aim}</p>
    </div>
  );
}

function PasteForm({ onText }: { onText(text: string): void }): JSX.Element {
  const [text, setText] = useState("");
  const pair = <button type="submit" class="quiet" disabled={text.trim() === ""}>{TEXT.pair}</button>;
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        onText(text);
      }}
    >
      <TextField
        {...{ value: text, onText: setText, button: pair }}
        id="pairing-link"
        label={TEXT.pasteLabel}
        hint={TEXT.pasteHint}
        autocomplete="off"
      />
    </form>
  );
}
