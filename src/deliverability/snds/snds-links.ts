import { invalidField } from '../../errors.ts'
import { parseUrl } from '../../parse-url.ts'
import { decrypt, encrypt } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import type { SndsAccessRow } from './snds.sql.ts'

/** The links of the automated data access: “IP data”, and “IP status” where it was entered. */
export type SndsLinks = { data: string; status: string | null }

const sndsContext = (workspaceId: string) => `snds_access/${workspaceId}`

export const SNDS_ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'snds_access', id: 'workspace_id', column: 'sealed', contextOf: sndsContext },
]

export function encryptLinks(links: SndsLinks, secretKey: string, workspaceId: string): string {
  return encrypt(JSON.stringify(links), secretKey, sndsContext(workspaceId))
}

export function decryptLinks({ sealed, workspaceId }: SndsAccessRow, secretKey: string): SndsLinks {
  return JSON.parse(decrypt(sealed, secretKey, sndsContext(workspaceId))) as SndsLinks
}

/** Domains of the portal, before and after it moved in 2026. */
const PORTAL_DOMAINS = ['outlook.com', 'office.com', 'live.com', 'microsoft.com']

/** A link with a key to the portal of SNDS. @throws Fault `invalid_request` */
export function requireSndsLink(text: string, path: string): string {
  const { url, problem } = parseUrl(text.trim(), ['https:'])
  if (url === null) throw invalidField(path, problem)
  const isPortal = PORTAL_DOMAINS.some((domain) => url.hostname.endsWith(`.${domain}`))
  if (!isPortal || url.port !== '' || url.username !== '')
    throw invalidField(path, 'must be a link of the automated data access of SNDS')
  if (url.search === '') throw invalidField(path, 'has no key: copy the whole link')
  url.hash = ''
  return url.href
}
