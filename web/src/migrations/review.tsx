import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { CheckField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { SectionList, Row, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { migrations, type Connection, type Folder, type Wanted } from './api.ts'
import { DryRun } from './dry-run.tsx'
import { MappingTable } from './mapping-table.tsx'
import { useOf } from './words.ts'

type ReviewProps = { source: Connection; destination: Connection; folders: Folder[] }

type Options = Pick<Wanted, 'destPrefix' | 'deduplicate' | 'allMailOnce' | 'folderMap'>
const USUAL: Options = { destPrefix: '', deduplicate: true, allMailOnce: true, folderMap: {} }

/** A dry run, and what it was made for. */
type Look = { id: string; options: Options }

/** The last look before a migration: how, where to, a dry run, and the start. */
export function Review({ source, destination, folders }: ReviewProps) {
  const [options, setOptions] = useState(USUAL)
  const [look, setLook] = useState<Look | null>(null)
  const [state, setState] = useState<{ busy: 'look' | 'start' | null; problem: string }>({ busy: null, problem: '' })
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function send(dryRun: boolean): Promise<void> {
    setState({ busy: dryRun ? 'look' : 'start', problem: '' })
    try {
      const paths = folders.map(({ path }) => path)
      const { migrationId: id } = await migrations.start({ source, destination, folders: paths, ...options, dryRun })
      await queries.invalidateQueries({ queryKey: ['migrations'] })
      if (dryRun) setLook({ id, options })
      else await navigate({ to: '/migrations/$id', params: { id } })
      setState({ busy: null, problem: '' })
    } catch (error) {
      setState({ busy: null, problem: (error as Error).message })
    }
  }

  const change = (changed: Partial<Options>) => setOptions({ ...options, ...changed })
  return (
    <SectionList>
      <Section title="How is it to be copied?">
        <HowFields options={options} onChange={change} hasAllMail={folders.some(isAllMail)} />
      </Section>
      <Section title="Where does each folder go?">
        <MappingTable
          folders={folders}
          map={options.folderMap}
          lookId={look?.id ?? null}
          onChange={(folderMap) => change({ folderMap })}
        />
        {look && <DryRun id={look.id} isStale={look.options !== options} />}
      </Section>
      <Row>
        <Button kind="primary" busy={state.busy === 'start'} onClick={() => void send(false)}>
          Start the migration
        </Button>
        <Button busy={state.busy === 'look'} onClick={() => void send(true)}>
          {look ? 'Dry run again' : 'Dry run first'}
        </Button>
        <Muted>A dry run maps and counts, and copies nothing.</Muted>
        <div role="alert">{state.problem && <Notice tone="bad">{state.problem}</Notice>}</div>
      </Row>
    </SectionList>
  )
}

type HowProps = { options: Options; onChange: (changed: Partial<Options>) => void; hasAllMail: boolean }

function HowFields({ options, onChange, hasAllMail }: HowProps) {
  return (
    <Stack>
      <CheckField
        name="deduplicate"
        label="Leave out what is there already"
        hint="A message whose Message-ID the destination folder has is not copied once more."
        defaultChecked={options.deduplicate}
        onChoose={(deduplicate) => onChange({ deduplicate })}
      />
      {hasAllMail && (
        <CheckField
          name="allMailOnce"
          label="Of “All mail”, copy only what no other folder has"
          defaultChecked={options.allMailOnce}
          onChoose={(allMailOnce) => onChange({ allMailOnce })}
        />
      )}
      <TextField
        name="destPrefix"
        label="Put everything below a folder"
        hint="“Old” makes INBOX “Old/INBOX”. Empty: each folder goes to the one of its name."
        defaultValue={options.destPrefix}
        onType={(destPrefix) => onChange({ destPrefix })}
        autoComplete="off"
        spellCheck={false}
      />
    </Stack>
  )
}

function isAllMail({ specialUse }: Folder): boolean {
  return useOf(specialUse) === 'All mail'
}
