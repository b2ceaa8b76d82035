import type { FolderRoute } from './mapping.ts'
import { isAllMail } from '../folder/all-mail.ts'
import type { Journal } from '../journal/journal.ts'
import { sizeText } from './size-text.ts'

/** A warning before a migration. It does not stop it. `folder` is "" for the whole migration. */
export type MigrationWarning = {
  code: 'over_quota' | 'trash_expires' | 'all_mail'
  folder: string
  message: string
}

type WarningDeps = {
  journal: Journal
  /** Free bytes at the destination; null without a quota. */
  freeBytes: number | null
  isCourier: boolean
  options?: { allMailOnce?: boolean }
}

export async function findWarnings(
  routes: readonly FolderRoute[],
  deps: WarningDeps,
): Promise<MigrationWarning[]> {
  const warnings = [
    await warnOfQuota(routes, deps),
    warnOfTrash(routes, deps),
    warnOfAllMail(routes, deps),
  ]
  return warnings.filter((warning) => warning !== null)
}

/** Messages copied by an earlier run need no space. */
async function warnOfQuota(
  routes: readonly FolderRoute[],
  { journal, freeBytes }: WarningDeps,
): Promise<MigrationWarning | null> {
  if (freeBytes === null) return null
  let needed = 0
  for (const { folder, bytes } of routes) {
    const saved = await journal.load(folder.path)
    needed += Math.max(0, (bytes ?? 0) - (saved?.bytes ?? 0))
  }
  if (needed <= freeBytes) return null
  const message = `The destination has room for ${sizeText(freeBytes)}, but there are ${sizeText(needed)} to copy. Free space there, or copy fewer folders.`
  return { code: 'over_quota', folder: '', message }
}

/** Courier’s default is IMAP_EMPTYTRASH=Trash:7. */
function warnOfTrash(
  routes: readonly FolderRoute[],
  { isCourier }: WarningDeps,
): MigrationWarning | null {
  const trash = routes.find(
    ({ folder, mapped }) => folder.messages !== 0 && /(?:^|[./])Trash$/.test(mapped.destination),
  )
  if (!isCourier || !trash) return null
  const { source, destination } = trash.mapped
  const message = `The destination is a Courier server. It deletes messages that have been in “${destination}” for a week, unless IMAP_EMPTYTRASH is off.`
  return { code: 'trash_expires', folder: source, message }
}

function warnOfAllMail(
  routes: readonly FolderRoute[],
  { options }: WarningDeps,
): MigrationWarning | null {
  const all = routes.find(({ folder }) => isAllMail(folder))
  if (!all || routes.length === 1 || options?.allMailOnce) return null
  const message = `“${all.folder.path}” contains the messages of the other folders. Each of them will be copied as often as it appears. Copy only what no other folder has (allMailOnce), or leave this one out.`
  return { code: 'all_mail', folder: all.folder.path, message }
}
