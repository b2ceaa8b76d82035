const KEY = 'portreeve-recent-checks'
const MAX_RECENT = 6

/** Of one account, because several people may use a browser. */
const keyOf = (accountId: string) => `${KEY}-${accountId}`

/** The last targets that a person checked in this browser, newest first. */
export function recentChecks(accountId: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(accountId)) ?? '[]')
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Without storage, there are no recent checks. */
export function rememberCheck(accountId: string, target: string): void {
  const others = recentChecks(accountId).filter((one) => one !== target)
  try {
    const kept = [target, ...others].slice(0, MAX_RECENT)
    localStorage.setItem(keyOf(accountId), JSON.stringify(kept))
  } catch {
    // The browser stores nothing.
  }
}
