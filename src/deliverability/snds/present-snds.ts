import { ifDecryptable } from '../../store/encryption.ts'
import { DAY_MS, monthsBefore } from '../../time.ts'
import { MAX_GROUP_ROWS, SNDS_APPROVAL_MONTHS, SNDS_LINK_DAYS } from '../limits.ts'
import { accessStateOf } from '../provider-access/access-state.ts'
import type { SndsDeps } from './fetch-snds.ts'
import { decryptLinks } from './snds-links.ts'
import {
  findSndsAccess,
  findSndsSignIn,
  listLatestSndsDays,
  listSndsBlocks,
  type SndsAccessRow,
  type SndsSignInRow,
} from './snds.sql.ts'

const SHOWN_DAYS = 30

/** Presents the access of a workspace to SNDS, with what it last said of each address. */
export async function presentSnds(
  { db, secretKey }: Pick<SndsDeps, 'db' | 'secretKey'>,
  workspaceId: string,
) {
  const since = new Date(Date.now() - SHOWN_DAYS * DAY_MS).toISOString().slice(0, 10)
  const [signIn, links, addresses, blocks] = await Promise.all([
    findSndsSignIn(db, workspaceId),
    findSndsAccess(db, workspaceId),
    listLatestSndsDays(db, workspaceId, { since, limit: MAX_GROUP_ROWS }),
    listSndsBlocks(db, workspaceId),
  ])
  const access = signIn ? presentSignIn(signIn) : links && presentLinks(links, secretKey)
  return { access: access ?? null, addresses, blocks: blocks.slice(0, MAX_GROUP_ROWS) }
}

function presentLinks(access: SndsAccessRow, secretKey: string) {
  const { enteredAt } = access
  return {
    kind: 'links' as const,
    account: null,
    hasStatusLink: hasStatusLink(access, secretKey),
    enteredAt,
    linksEndAt: new Date(enteredAt.getTime() + SNDS_LINK_DAYS * DAY_MS),
    ...presentState(access),
  }
}

function presentSignIn(access: SndsSignInRow) {
  return {
    kind: 'sign-in' as const,
    account: access.account,
    hasStatusLink: false,
    enteredAt: null,
    linksEndAt: null,
    ...presentState(access),
  }
}

function presentState(access: SndsAccessRow | SndsSignInRow) {
  const { approvedOn, problem, unreadable, fetchedAt, dueAt } = access
  return {
    approvedOn,
    approvalEndsOn:
      approvedOn === null
        ? null
        : monthsBefore(new Date(approvedOn), -SNDS_APPROVAL_MONTHS).toISOString().slice(0, 10),
    state: accessStateOf(access),
    problem,
    unreadable,
    fetchedAt,
    nextFetchAt: dueAt,
  }
}

/** False when they were encrypted with another key: then they must be entered again anyway. */
function hasStatusLink(access: SndsAccessRow, secretKey: string): boolean {
  const links = ifDecryptable(() => decryptLinks(access, secretKey))
  return links !== null && links.status !== null
}
