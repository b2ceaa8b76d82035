import { readStatus } from './mailbox.ts'
import { encodeMailbox } from './mailbox-name.ts'
import { ImapRefused, isTemporary } from '../connection/refusals.ts'
import { stringOf } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'

/** What stands between levels on every server that we know of. */
const DELIMITERS = ['/', '.', '\\']

/** Parents whose existence is asked for at most. */
const MAX_PROBES = 30

/**
 * Finds out what stands between the levels of folder names, on a server that refuses to list them.
 * @param paths folders that are said to be there
 * @returns null where the server says that it has no levels, undefined where nothing tells
 * @throws ImapRefused when the server asks us to come back later, ImapLost
 */
export async function discoverDelimiter(wire: Wire, paths: readonly string[]): Promise<string | null | undefined> {
  // RFC 3501, 6.3.8: an empty name asks for the delimiter alone; some servers that refuse LIST answer LSUB or XLIST.
  for (const verb of ['LIST', 'LSUB', ...(wire.capabilities.has('XLIST') ? ['XLIST'] : [])]) {
    const told = await readDelimiter(wire, verb)
    if (told !== undefined) return told
  }
  return (await probeParents(wire, paths)) ?? (paths.some((path) => path.includes('/')) ? '/' : undefined)
}

async function readDelimiter(wire: Wire, verb: string): Promise<string | null | undefined> {
  let told: string | null | undefined
  try {
    await wire.run([`${verb} "" ""`], {
      data(values) {
        if (!/^(?:X?LIST|LSUB)$/i.test(stringOf(values[0]) ?? '')) return false
        told = stringOf(values[2])
        return true
      },
    })
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
  }
  return told
}

/** What stands behind the name of a folder that is there, in the name of another, divides levels. */
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
