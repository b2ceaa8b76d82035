import { startImapMailboxFake, type FakeMailboxOptions } from '../servers/imap-mailbox-fake.ts'
import type { MigrateOptions } from '../../src/migration/engine/migration-options.ts'
import { migrate, waitTimes, type Run } from './run.ts'

/** The fake stores at once, so that nothing has to be waited for. */
const waits = {
  ...waitTimes,
  reconnectMs: { first: 1, most: 5 },
  slowDownMs: { first: 2, most: 10 },
  quietMs: 1,
}

/** What a migration between two scripted accounts gave. */
export type Facts = {
  state: Run['state']
  /** `folder/uid: code`, or `folder: code`; "" is the whole migration. */
  errors: string[]
  /** The servers’ words in them, in the same order. */
  messages: string[]
  /** Messages by folder of the destination, without empty folders. */
  copied: Record<string, number>
  /** Bodies by folder of the destination. */
  bodies: Record<string, string[]>
  flags: string[]
  dates: string[]
  notes: string[]
  /** Whether the report showed the account as throttled. */
  wasThrottled: boolean
}

/** Copies all folders of one scripted account to another. */
export async function migrateFake(
  source: FakeMailboxOptions,
  destination: FakeMailboxOptions = {},
  options: MigrateOptions = {},
): Promise<Facts> {
  const [from, to] = await Promise.all([
    startImapMailboxFake(source),
    startImapMailboxFake(destination),
  ])
  try {
    const run = await migrate({ port: from.port }, { port: to.port }, { ...options, waits })
    const failures = run.failures.toSorted(
      (a, b) => a.folder.localeCompare(b.folder) || (a.uid ?? 0) - (b.uid ?? 0),
    )
    const filled = [...to.folders].filter(([, messages]) => messages.length > 0)
    return {
      state: run.state,
      errors: failures.map(
        ({ folder, uid, code }) => `${folder}${uid === null ? '' : `/${uid}`}: ${code}`,
      ),
      messages: failures.map(({ message }) => message),
      copied: Object.fromEntries(filled.map(([name, messages]) => [name, messages.length])),
      bodies: Object.fromEntries(
        filled.map(([name, messages]) => [
          name,
          messages.map(({ body }) => body.toString()).toSorted(),
        ]),
      ),
      flags: [...new Set(filled.flatMap(([, messages]) => messages.map(({ flags }) => flags)))],
      dates: [...new Set(filled.flatMap(([, messages]) => messages.map(({ date }) => date)))],
      notes: run.notes.map(({ folder, message }) => `${folder}: ${message}`),
      wasThrottled: run.seen.some(({ throttledUntil }) => throttledUntil !== null),
    }
  } finally {
    await Promise.all([from.close(), to.close()])
  }
}
