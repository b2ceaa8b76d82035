declare global {
  interface Window {
    /** The request that `public/start.js` sent; its response is null if the service was unreachable. */
    portreeveAccount?: { workspace: string | null; response: Promise<Response | null> }
  }
}

/**
 * Takes the response to the request for the account that was sent before the scripts were loaded.
 * The first request for the account needs no round trip of its own then.
 * @returns undefined if there was none for this workspace, or if it was taken before
 */
export function takeEarlyAccount(workspace: string | null): Promise<Response | null> | undefined {
  const early = window.portreeveAccount
  delete window.portreeveAccount
  return early?.workspace === workspace ? early.response : undefined
}
