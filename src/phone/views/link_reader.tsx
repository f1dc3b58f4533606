/** Reads a pairing link from a QR code or a text field; and the view that adds a host to a signed-in phone. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { readLink, type SignInLink } from "../route.ts";
import { STRINGS } from "../strings.ts";
import { ADD_HOST_STRINGS } from "../strings_settings.ts";
import { Command, PageHead, TextField } from "./shared.tsx";

export const ADD_HOST_TEXT = STRINGS.addHost ?? ADD_HOST_STRINGS;
const TEXT = ADD_HOST_TEXT;

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

type CameraProblem = keyof typeof TEXT.camera;

class CameraError extends Error {
  override name = "CameraError";
  readonly problem: CameraProblem;

  constructor(problem: CameraProblem, options?: ErrorOptions) {
    super(`Cannot use the camera: ${problem}`, options);
    this.problem = problem;
  }
}

/** Time between two scans of the picture. */
const SCAN_EVERY_MS = 120;
/** Pictures are reduced to this width: enough for a code that fills a third of it. */
const WIDTH_MAX_PX = 720;

type Detect = (video: HTMLVideoElement) => Promise<string | undefined>;

/** The browser's barcode detector, as far as it is used here; not yet in TypeScript's own library. */
interface BarcodeDetectorLike {
  detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]>;
}
interface BarcodeDetectorClass {
  new (options: { formats: string[] }): BarcodeDetectorLike;
  getSupportedFormats(): Promise<string[]>;
}

/** True if the browser offers a camera to this page at all. */
function hasCamera(): boolean {
  return isSecureContext && navigator.mediaDevices?.getUserMedia !== undefined;
}

/**
 * Shows the camera in `video` and hands every text that it reads to `onText`, until the signal aborts.
 *
 * Throws CameraError.
 */
async function scanQr(
  video: HTMLVideoElement,
  { onText, signal }: { onText(text: string): void; signal: AbortSignal },
): Promise<void> {
  const stream = await openCamera();
  try {
    if (signal.aborted) return;
    video.srcObject = stream;
    await video.play();
    const detect = await makeDetector();
    while (!signal.aborted) {
      const text = await detect(video);
      if (text !== undefined && !signal.aborted) onText(text);
      await pause(signal);
    }
  } catch (error) {
    // Removing the video while it starts makes `play` fail.
    if (!signal.aborted) throw error;
  } finally {
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  }
}

async function openCamera(): Promise<MediaStream> {
  if (!hasCamera()) throw new CameraError("unsupported");
  try {
    return await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" }, audio: false });
  } catch (cause) {
    const isDenied = cause instanceof DOMException && cause.name === "NotAllowedError";
    throw new CameraError(isDenied ? "denied" : "no_camera", { cause });
  }
}

async function makeDetector(): Promise<Detect> {
  const { BarcodeDetector } = globalThis as { BarcodeDetector?: BarcodeDetectorClass };
  if (BarcodeDetector !== undefined && (await BarcodeDetector.getSupportedFormats()).includes("qr_code")) {
    const detector = new BarcodeDetector({ formats: ["qr_code"] });
    return async (video) => (await detector.detect(video))[0]?.rawValue;
  }
  const { default: decodeQr } = await import("qr/decode.js");
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return (video) => Promise.resolve(context === null ? undefined : readFrame(video, context, decodeQr));
}

type DecodeQr = (image: { width: number; height: number; data: Uint8ClampedArray }) => string;

function readFrame(
  video: HTMLVideoElement,
  context: CanvasRenderingContext2D,
  decodeQr: DecodeQr,
): string | undefined {
  const { videoWidth, videoHeight } = video;
  if (videoWidth === 0) return undefined;
  const scale = Math.min(1, WIDTH_MAX_PX / videoWidth);
  const [width, height] = [Math.round(videoWidth * scale), Math.round(videoHeight * scale)];
  Object.assign(context.canvas, { width, height });
  context.drawImage(video, 0, 0, width, height);
  try {
    return decodeQr({ width, height, data: context.getImageData(0, 0, width, height).data });
  } catch {
    // The library throws if the picture contains no code that it can read.
    return undefined;
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SCAN_EVERY_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
