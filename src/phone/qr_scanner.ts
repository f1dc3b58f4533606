/** Reads a QR code with the phone's camera: by the browser's own detector where it has one, otherwise in script. */

/** Why there is no picture: `unsupported` also on a page without https. */
export type CameraProblem = "unsupported" | "denied" | "no_camera";

export class CameraError extends Error {
  override name = "CameraError";
  readonly problem: CameraProblem;

  constructor(problem: CameraProblem, options?: ErrorOptions) {
    super(`Cannot use the camera: ${problem}`, options);
    this.problem = problem;
  }
}

/** Time between two looks at the picture, in milliseconds. */
const LOOK_EVERY_MS = 120;
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

/** Whether the browser offers a camera to this page at all. */
export function hasCamera(): boolean {
  return isSecureContext && navigator.mediaDevices?.getUserMedia !== undefined;
}

/**
 * Shows the camera in `video` and hands every text that it reads to `onText`, until the signal aborts.
 *
 * Throws CameraError.
 */
export async function scanQr(
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
    // Taking the picture away while it starts makes `play` fail.
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
    // The library throws when the picture holds no code that it can read.
    return undefined;
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LOOK_EVERY_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
