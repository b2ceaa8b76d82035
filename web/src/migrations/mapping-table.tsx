import { Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { numberText, sizeText } from '../ui/text/format.ts'
import type { Folder, Wanted } from './api.ts'
import classes from './mapping-table.module.css'
import { useMigration } from './use-migration.ts'

type Map = Wanted['folderMap']
type MappingTableProps = {
  folders: Folder[]
  map: Map
  /** The dry run that tells where folders go by themselves; null before there was one. */
  lookId: string | null
  onChange: (map: Map) => void
}

/** Each folder, how much it holds, and where it goes unless something else is written there. */
export function MappingTable({ lookId, ...rest }: MappingTableProps) {
  return lookId === null ? <Mapping {...rest} found={{}} /> : <Looked {...rest} lookId={lookId} />
}

type Found = Record<string, { destination: string; bytesTotal: number | null; total: number }>
type MappingProps = Omit<MappingTableProps, 'lookId'> & { found: Found }

function Looked({ lookId, ...rest }: Omit<MappingTableProps, 'lookId'> & { lookId: string }) {
  const { data } = useMigration(lookId)
  return <Mapping {...rest} found={data?.progress.folderProgress ?? {}} />
}

function Mapping({ folders, map, found, onChange }: MappingProps) {
  function write(path: string, destination: string): void {
    const { [path]: _before, ...others } = map
    onChange(destination === '' ? others : { ...others, [path]: destination })
  }
  const isLooked = Object.keys(found).length > 0
  const columns = ['Folder', 'Messages', ...(isLooked ? ['Size'] : []), 'Goes to']
  return (
    <Table caption="Folders and where they go" quiet columns={columns}>
      {folders.map(({ path, messages }) => {
        const known = found[path]
        const bytes = known?.bytesTotal
        const count = known?.total || messages
        return (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td>
              {numberText(count)} <span className={classes.word}>{count === 1 ? 'message' : 'messages'}</span>
            </td>
            {isLooked && (
              <td>
                <Muted>{bytes === null || bytes === undefined ? '' : sizeText(bytes)}</Muted>
              </td>
            )}
            <td>
              <input
                className={classes.input}
                aria-label={`${path} goes to`}
                placeholder={known?.destination || path}
                value={map[path] ?? ''}
                onChange={(event) => write(path, event.currentTarget.value)}
                autoComplete="off"
                spellCheck={false}
                maxLength={1_000}
              />
            </td>
          </tr>
        )
      })}
    </Table>
  )
}
