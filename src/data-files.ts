import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './version.ts'

/** Every file of `data/` that the service reads, below the package’s folder. */
export const DATA_FILES = [
  'data/abuse-services.json',
  'data/asn/table.bin.br',
  'data/blocklists.json',
  'data/common-passwords.txt',
  'data/dkim-selectors.json',
  'data/domain-blocklists.json',
  'data/mail-senders.json',
  'data/public-feeds.json',
  'data/rdap-servers.json',
  'data/well-known-networks.json',
]

/** The files of `DATA_FILES` that this installation lacks: it was packed or copied incompletely. */
export function listMissingFiles(root: string = ROOT): string[] {
  return DATA_FILES.filter((file) => !existsSync(join(root, file)))
}
