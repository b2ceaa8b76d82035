import type { Db } from '../../store/database.ts'
import type { DomainRow } from '../domains/dmarc-domains.sql.ts'
import { MAX_DAILY_DAYS, MAX_DAILY_SENDERS, MAX_DAILY_SOURCES } from '../limits.ts'
import { sumByDay, type DayRange } from '../summary/dmarc-summary.sql.ts'
import { groupSenders, nameSender } from './senders.ts'
import { listMarks, listSourcesByVolume, sumSendersByDay } from './sender-marks.sql.ts'

export type DayCounts = { day: string; messages: number; pass: number }

/**
 * Counts the messages of each day by sender: the senders with most messages each, and all others
 * together. Days without messages are missing, because they have no pass rate. The newest days where
 * there are too many.
 */
export async function describeSenderDays(db: Db, { id, domain }: DomainRow, range: DayRange) {
  const [sources, marks, totals] = await Promise.all([
    listSourcesByVolume(db, id, range, MAX_DAILY_SOURCES),
    listMarks(db, id),
    sumByDay(db, id, range),
  ])
  const senders = groupSenders(domain, sources, marks)
    .toSorted((one, other) => other.messages - one.messages)
    .slice(0, MAX_DAILY_SENDERS)
  const shown = new Set(senders.map((sender) => sender.id))
  const members = sources
    .map((source) => ({ source: source.source, sender: nameSender(domain, source).id }))
    .filter(({ sender }) => shown.has(sender))
  const days = totals
    .filter(({ messages }) => messages > 0)
    .slice(-MAX_DAILY_DAYS)
    .map(({ day, messages, aligned }) => ({ day, messages, pass: aligned }))
  const rows =
    members.length === 0
      ? []
      : await sumSendersByDay(
          db,
          id,
          members,
          days.map(({ day }) => day),
        )
  const bySender = Map.groupBy(rows, ({ sender }) => sender)
  return {
    ...range,
    days,
    senders: senders.map((sender) => presentSender(sender, bySender.get(sender.id) ?? [])),
    others: others(days, rows),
  }
}

function presentSender(
  { id, name, kind, mark }: ReturnType<typeof groupSenders>[number],
  rows: DayCounts[],
) {
  const days = rows.map(({ day, messages, pass }) => ({ day, messages, pass }))
  return { id, name, kind, mark, ...sumOf(days), days }
}

/** The messages of each day that no shown sender sent. */
function others(days: DayCounts[], shown: DayCounts[]) {
  const byDay = Map.groupBy(shown, ({ day }) => day)
  const rest = days
    .map(({ day, messages, pass }) => {
      const known = sumOf(byDay.get(day) ?? [])
      return { day, messages: messages - known.messages, pass: pass - known.pass }
    })
    .filter(({ messages }) => messages > 0)
  return { ...sumOf(rest), days: rest }
}

function sumOf(days: DayCounts[]): { messages: number; pass: number } {
  return days.reduce(
    (sum, { messages, pass }) => ({ messages: sum.messages + messages, pass: sum.pass + pass }),
    { messages: 0, pass: 0 },
  )
}
