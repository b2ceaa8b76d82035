import { describe, expect, it } from 'vitest'
import {
  digestOfStatuses,
  type FolderStatus,
} from '../../src/migration/engine/sync/folder-status.ts'
import { finishSync } from '../../src/migration/engine/sync/finish-sync.ts'
import { flagBits, flagsOf } from '../../src/migration/engine/journal/copy-records.ts'

const STATUS: FolderStatus = { uidValidity: 7, uidNext: 4, messages: 3, modseq: '9', flags: null }
const STATUSES = new Map([['INBOX', STATUS], ['Sent', STATUS]]) // prettier-ignore

/** What the next pass knows of the source, after folders of which these were copied completely. */
async function seenAfter(...folders: (FolderStatus | null)[]): Promise<string | null> {
  type Parameter<N extends number> = Parameters<typeof finishSync>[N]
  const copies = folders.map((seen) => ({ state: 'done', folderState: { saved: { seen } } }))
  const { seen } = await finishSync(
    {} as Parameter<0>,
    {
      changes: {},
      before: [],
      statuses: STATUSES,
      copiedBefore: new Map(),
    } as unknown as Parameter<1>,
    copies as unknown as Parameter<2>,
    { journal: { deletions: async () => [] } } as unknown as Parameter<3>,
    { sync: { deletions: 'record' } },
  )
  return seen
}

describe('the next pass of a synchronization', () => {
  it('needs not look into folders that were copied as far as the source had counted', async () => {
    expect(await seenAfter(STATUS, STATUS)).toBe(digestOfStatuses(STATUSES))
  })
  it('looks into all where a source counted a message that it did not show yet', async () => {
    expect(await seenAfter(STATUS, null)).toBeNull()
  })
})

describe('the flags of a copy', () => {
  it('keep their bits, with which earlier versions stored them', () => {
    const flags = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft', '$Junk', 'Work']
    const keywords: string[] = []
    expect(flags.map((flag) => flagBits([flag], keywords))).toEqual([1, 2, 4, 8, 16, 256, 512])
    expect(flagsOf(0b10_0000_1001, keywords)).toEqual(['\\Answered', '\\Seen', 'Work'])
  })
})
