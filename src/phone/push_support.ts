/** Whether this browser can receive notifications, and if not, why. */

export type PushSupport = "ready" | "insecure" | "install" | "unsupported" | "denied";

export interface PushFacts {
  isSecureContext: boolean;
  hasPushManager: boolean;
  permission: NotificationPermission | undefined;
  userAgent: string;
  /** A Mac with touch is an iPad. */
  touchPoints: number;
  /** The page runs as an app from the home screen. */
  isInstalled: boolean;
}

export function pushSupport(facts: PushFacts): PushSupport {
  if (!facts.isSecureContext) return "insecure";
  if (!facts.hasPushManager || facts.permission === undefined) {
    return isApplePhone(facts) && !facts.isInstalled ? "install" : "unsupported";
  }
  return facts.permission === "denied" ? "denied" : "ready";
}

function isApplePhone({ userAgent, touchPoints }: PushFacts): boolean {
  return /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && touchPoints > 1);
}

export function pushFacts(window: Window & typeof globalThis): PushFacts {
  const { navigator } = window;
  return {
    isSecureContext: window.isSecureContext,
    hasPushManager: "serviceWorker" in navigator && "PushManager" in window,
    permission: "Notification" in window ? Notification.permission : undefined,
    userAgent: navigator.userAgent,
    touchPoints: navigator.maxTouchPoints,
    isInstalled: window.matchMedia("(display-mode: standalone)").matches,
  };
}
