/** Asks the user for the password; false when the user cancels. */
type PasswordPromptHandler = () => Promise<boolean>

let prompt: PasswordPromptHandler | null = null
let pending: Promise<boolean> | null = null

/**
 * Registers the password prompt.
 * @returns a function that unregisters it
 */
export function onConfirmPassword(handler: PasswordPromptHandler): () => void {
  prompt = handler
  return () => {
    if (prompt === handler) prompt = null
  }
}

/**
 * Shows one prompt for all concurrent requests that need it. False when no prompt is registered.
 */
export function confirmPassword(): Promise<boolean> {
  pending ??= (prompt?.() ?? Promise.resolve(false)).finally(() => (pending = null))
  return pending
}
