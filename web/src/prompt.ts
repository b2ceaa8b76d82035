/** A question to the user that requests wait for: the password, or a new sign-in. */
export type Prompt = {
  /** Registers the dialog. @returns a function that unregisters it */
  onAsk: (handler: PromptHandler) => () => void
  /** Shows one dialog for all requests that need it. False when the user cancels. */
  ask: (isUserAction: boolean) => Promise<boolean>
}

/** @param isUserAction false for requests that the screen sends by itself */
type PromptHandler = (isUserAction: boolean) => Promise<boolean>

/** Without a registered dialog the answer is false. */
export function createPrompt(): Prompt {
  let handler: PromptHandler | null = null
  let pending: Promise<boolean> | null = null
  return {
    onAsk(registered) {
      handler = registered
      return () => {
        if (handler === registered) handler = null
      }
    },
    ask(isUserAction) {
      pending ??= (handler?.(isUserAction) ?? Promise.resolve(false)).finally(
        () => (pending = null),
      )
      return pending
    },
  }
}

/** Confirms a sign-in that is no longer recent. */
export const passwordPrompt = createPrompt()
