import type { Session } from '../../src/net/imap/connection/imap-session.ts'
import { fillFolders } from './corpus.ts'

/** A mailbox as people have it. `delays`: the round trips that are worth their time. */
type Shape = {
  title: string
  counts: () => Map<string, number>
  /** Bytes of a message, in place of the sizes of the corpus. */
  size?: number
  delays: readonly number[]
}

const ALL_DELAYS = [0, 30, 150]

export const SHAPES = {
  '14x1': { title: '14 folders of 1 message', counts: () => even(14, 1), delays: ALL_DELAYS },
  '200x5': { title: '200 folders of 5', counts: () => even(200, 5), delays: ALL_DELAYS },
  '300in14': {
    title: '300 messages in 14 folders',
    counts: () => typical(300),
    delays: ALL_DELAYS,
  },
  '3000in14': {
    title: '3,000 messages in 14 folders',
    counts: () => typical(3_000),
    delays: [0, 30],
  },
  '1x50000': {
    title: '50,000 messages of 3 kB in 1 folder',
    counts: () => new Map([['INBOX', 50_000]]),
    size: 3_000,
    delays: ALL_DELAYS,
  },
  '200MB': {
    title: '1 message of 200 MB',
    counts: () => new Map([['INBOX', 1]]),
    size: 200e6,
    delays: ALL_DELAYS,
  },
} satisfies Record<string, Shape>

export type ShapeName = keyof typeof SHAPES

export async function fillShape(
  session: Session,
  name: ShapeName,
): Promise<{ folders: string[]; messages: number }> {
  const { counts, size }: Shape = SHAPES[name]
  const folders = counts()
  const messages = [...folders.values()].reduce((sum, count) => sum + count, 0)
  await fillFolders(session, folders, { messages, ...(size !== undefined && { size }) })
  return { folders: [...folders.keys()], messages }
}

function even(folders: number, messages: number): Map<string, number> {
  return new Map(namesOf(folders).map((name) => [name, messages]))
}

/** Two fifths in INBOX, a fifth in Sent, and ever less in the folders of filed mail. */
function typical(messages: number): Map<string, number> {
  const names = namesOf(14)
  const filed = names.slice(2)
  const weights = filed.map((_, index) => filed.length - index)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const counts = new Map(
    filed.map((name, index) => [
      name,
      Math.round((messages * 0.4 * (weights[index] ?? 0)) / total),
    ]),
  )
  const rest = messages - [...counts.values()].reduce((sum, count) => sum + count, 0)
  const sent = Math.round(rest / 3)
  return new Map([['INBOX', rest - sent], ['Sent', sent], ...counts])
}

function namesOf(count: number): string[] {
  const filed = Array.from({ length: count - 2 }, (_, n) => `Archive/Project ${n + 1}`)
  return ['INBOX', 'Sent', ...filed]
}
