import { readStatus } from './mailbox.ts'
import { encodeMailbox } from './mailbox-name.ts'
import { ImapRefused, isTemporary } from '../connection/refusals.ts'
import { stringOf } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'

/** The hierarchy delimiters of all known servers. */
const DELIMITERS = ['/', '.', '\\']

/** Parents that are probed at most. */
const MAX_PROBES = 30

/**
 * Discovers the hierarchy delimiter of a server that rejects LIST.
 * @param paths folders that exist according to the user
 * @returns null when the server has no hierarchy, undefined when it is unknown
 * @throws ImapRefused when the server asks to retry later, ImapLost
 */
export async function discoverDelimiter(
  wire: Wire,
  paths: readonly string[],
): Promise<string | null | undefined> {
  // An empty name requests the delimiter alone (RFC 3501, 6.3.8). Some servers that reject LIST
  // answer LSUB or XLIST.
  for (const verb of ['LIST', 'LSUB', ...(wire.capabilities.has('XLIST') ? ['XLIST'] : [])]) {
    const delimiter = await readDelimiter(wire, verb)
    if (delimiter !== undefined) return delimiter
  }
  return (
    (await probeParents(wire, paths)) ??
    (paths.some((path) => path.includes('/')) ? '/' : undefined)
  )
}

async function readDelimiter(wire: Wire, verb: string): Promise<string | null | undefined> {
  let delimiter: string | null | undefined
  try {
    await wire.run([`${verb} "" ""`], {
      data(values) {
        if (!/^(?:X?LIST|LSUB)$/i.test(stringOf(values[0]) ?? '')) return false
        delimiter = stringOf(values[2])
        return true
      },
    })
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
  }
  return delimiter
}

/** If the parent of a path exists as a folder, the character between them is the delimiter. */
async function probeParents(wire: Wire, paths: readonly string[]): Promise<string | undefined> {
  const probes = paths.flatMap((path) =>
    DELIMITERS.filter((delimiter) => path.lastIndexOf(delimiter) > 0).map((delimiter) => {
      return { delimiter, parent: path.slice(0, path.lastIndexOf(delimiter)) }
    }),
  )
  for (const { delimiter, parent } of probes.slice(0, MAX_PROBES)) {
    if (paths.includes(parent) || (await exists(wire, parent))) return delimiter
  }
  return undefined
}

async function exists(wire: Wire, path: string): Promise<boolean> {
  try {
    await readStatus(wire, encodeMailbox(path))
    return true
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
    return false
  }
}
