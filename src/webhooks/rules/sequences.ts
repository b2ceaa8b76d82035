import { createHash } from 'node:crypto'
import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import { countSequences, trimSequence, type SequenceStep } from './webhook-rules.sql.ts'

type SequenceKey = { ruleId: string; key: string; minutes: number | null }

export type Sequences = {
  /**
   * The number of this request in its sequence, from 1 on: each number is given once, over all
   * instances.
   */
  next(sequence: SequenceKey): Promise<number>
}

type Waiting = SequenceKey & {
  resolve: (number: number) => void
  reject: (error: unknown) => void
}

/** New keys of a rule after which those beyond the limit are deleted. */
const TRIM_AFTER_KEYS = 1_000

/** Requests of one statement. */
const MAX_STEPS = 1_000

/** Characters of a key; longer ones are hashed. */
const MAX_KEY_CHARS = 200

/**
 * Numbers the requests of sequences. Requests that arrive while a statement runs share the next one,
 * so that many senders cost few commits.
 */
export function createSequences({ db, log }: { db: Db; log: Logger }): Sequences {
  let waiting: Waiting[] = []
  let isRunning = false
  const newKeys = new Map<string, number>()

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_STEPS)
      waiting = waiting.slice(MAX_STEPS)
      await assignNumbers(batch)
    }
    isRunning = false
  }

  async function assignNumbers(batch: Waiting[]): Promise<void> {
    const groups = Map.groupBy(batch, ({ ruleId, key }) => `${ruleId} ${key}`)
    const steps = Array.from(groups.values(), ([first, ...others]): SequenceStep => {
      const { ruleId, key, minutes } = first as Waiting
      return { ruleId, key, minutes, requests: others.length + 1 }
    })
    try {
      const counted = await countSequences(db, steps)
      const counts = new Map(counted.map((one) => [`${one.ruleId} ${one.key}`, one.count]))
      for (const [name, requests] of groups) {
        const last = counts.get(name) ?? requests.length
        requests.forEach(({ resolve }, index) => resolve(last - requests.length + index + 1))
      }
      for (const { ruleId, isNew } of counted) if (isNew) await noteNewKey(ruleId)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  async function noteNewKey(ruleId: string): Promise<void> {
    const count = (newKeys.get(ruleId) ?? 0) + 1
    newKeys.set(ruleId, count % TRIM_AFTER_KEYS)
    if (count < TRIM_AFTER_KEYS) return
    await trimSequence(db, ruleId).catch((err: unknown) =>
      log.warn({ err }, 'old keys of a sequence were not deleted'),
    )
  }

  return {
    next: (sequence) =>
      new Promise((resolve, reject) => {
        waiting.push({ ...sequence, resolve, reject })
        if (!isRunning) void run()
      }),
  }
}

/** A key as it is stored: PostgreSQL rejects NUL, and a sender may choose a long one. */
export function storedKey(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (text.length <= MAX_KEY_CHARS && !/[\u0000-\u001f\ud800-\udfff]/.test(text)) return text
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
