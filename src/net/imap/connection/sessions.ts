import type { Session } from './imap-session.ts'

/** A session that is replaced when it is lost. */
export type Sessions = { open: () => Promise<Session>; close: () => Promise<void> }

export function createSessions(signIn: () => Promise<Session>): Sessions {
  let current: Session | null = null
  return {
    async open() {
      if (!current || current.wire.lost) current = await signIn()
      return current
    },
    close: async () => current?.wire.logout(),
  }
}
