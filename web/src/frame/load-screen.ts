import { checkReachable, whenReachable } from '../reachability.ts'

/** Browsers report a script or style sheet that they could not load in these words. */
const MISSING_FILE = /preload CSS|dynamically imported module|importing a module script/i

/** The file of a screen is gone, because a release replaced it. Reloading the page helps. */
export class MissingScreenError extends Error {
  /** The path of the route. */
  readonly screen: string

  constructor(screen: string, cause: unknown) {
    super(`The file of ${screen} is missing.`, { cause })
    this.name = 'MissingScreenError'
    this.screen = screen
  }
}

/**
 * Loads the file of a screen. While the service does not answer, waits and tries again.
 * @throws MissingScreenError when the service answers and the file is missing
 */
export async function loadScreen<T>(screen: string, load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      const loaded = await load()
      forgetReload(screen)
      return loaded
    } catch (error) {
      if (!isMissingFile(error)) throw error
      if (await checkReachable()) throw new MissingScreenError(screen, error)
      await whenReachable()
    }
  }
}

function isMissingFile(error: unknown): boolean {
  return error instanceof Error && MISSING_FILE.test(error.message)
}

const keyOf = (screen: string) => `portreeve-reloaded:${screen}`

/**
 * Reloads the page for a missing screen, once: the screen must have been loaded before the page is
 * reloaded for it again.
 * @returns false if the page was reloaded for it already, or if that cannot be known
 */
export function reloadOnce(screen: string): boolean {
  try {
    if (sessionStorage.getItem(keyOf(screen))) return false
    sessionStorage.setItem(keyOf(screen), '1')
  } catch {
    return false
  }
  window.location.reload()
  return true
}

function forgetReload(screen: string): void {
  try {
    sessionStorage.removeItem(keyOf(screen))
  } catch {
    // Without storage the page is never reloaded.
  }
}
