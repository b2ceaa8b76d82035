/** Asks the person for the password; false when they would rather not. */
type PasswordPromptHandler = () => Promise<boolean>

let ask: PasswordPromptHandler | null = null
let asking: Promise<boolean> | null = null

/**
 * Says how the person is asked, while there is a place to ask.
 * @returns how to take that back
 */
export function onConfirmPassword(by: PasswordPromptHandler): () => void {
  ask = by
  return () => {
    if (ask === by) ask = null
  }
}

/** Asks once for all requests that need it at the same time. False where nobody can be asked. */
export function confirmPassword(): Promise<boolean> {
  asking ??= (ask?.() ?? Promise.resolve(false)).finally(() => (asking = null))
  return asking
}
