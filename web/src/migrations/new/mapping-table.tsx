import { Muted } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { numberText, sizeText } from '../../ui/text/format.ts'
import type { Folder, MigrationDraft } from '../api.ts'
import classes from './mapping-table.module.css'
import { review as messages } from '../messages.ts'
import { useMigration } from '../use-migration.ts'

type FolderMap = MigrationDraft['folderMap']
type MappingTableProps = {
  folders: Folder[]
  map: FolderMap
  /** The last dry run, which determined default destinations; null before the first. */
  dryRunId: string | null
  onChange: (map: FolderMap) => void
}

/** Each folder with its messages and its destination, which can be changed. */
export function MappingTable({ dryRunId, ...rest }: MappingTableProps) {
  return dryRunId === null ? (
    <Mapping {...rest} found={{}} />
  ) : (
    <DryRunMapping {...rest} dryRunId={dryRunId} />
  )
}

type Found = Record<string, { destination: string; bytesTotal: number | null; total: number }>
type MappingProps = Omit<MappingTableProps, 'dryRunId'> & { found: Found }

function DryRunMapping({
  dryRunId,
  ...rest
}: Omit<MappingTableProps, 'dryRunId'> & { dryRunId: string }) {
  const { data } = useMigration(dryRunId)
  return <Mapping {...rest} found={data?.progress.folderProgress ?? {}} />
}

function Mapping({ folders, map, found, onChange }: MappingProps) {
  function write(path: string, destination: string): void {
    const { [path]: _before, ...others } = map
    onChange(destination === '' ? others : { ...others, [path]: destination })
  }
  const hasDryRun = Object.keys(found).length > 0
  const { folder, messages: count, size, destination } = messages.columns
  const columns = [folder, count, ...(hasDryRun ? [size] : []), destination]
  return (
    <Table caption={messages.table} quiet columns={columns}>
      {folders.map(({ path, messages: counted }) => {
        const known = found[path]
        const bytes = known?.bytesTotal
        const total = known?.total || counted
        return (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td>
              {numberText(total)} <span className={classes.word}>{messages.message(total)}</span>
            </td>
            {hasDryRun && (
              <td>
                <Muted>{bytes === null || bytes === undefined ? '' : sizeText(bytes)}</Muted>
              </td>
            )}
            <td>
              <input
                className={classes.input}
                aria-label={messages.destinationOf(path)}
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
