import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { CheckField, TextField } from '../../ui/forms/form.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { SectionList, Row, Section, Muted, Stack } from '../../ui/layout/page.tsx'
import { migrations, type Folder, type MigrationDraft } from '../api.ts'
import { DryRun } from './dry-run.tsx'
import { MappingTable } from './mapping-table.tsx'
import { review as messages } from '../messages.ts'
import { isAllMail } from '../status.ts'
import { useAccess } from '../../workspaces/roles.ts'

type ReviewProps = {
  source: MigrationDraft['source']
  destination: MigrationDraft['destination']
  folders: Folder[]
}

type Options = Pick<MigrationDraft, 'destPrefix' | 'deduplicate' | 'allMailOnce' | 'folderMap'>
const DEFAULTS: Options = { destPrefix: '', deduplicate: true, allMailOnce: true, folderMap: {} }

/** A dry run and its options. */
type StartedDryRun = { id: string; options: Options }

/** The last step before a migration: options, destinations, dry run, start. */
export function Review({ source, destination, folders }: ReviewProps) {
  const access = useAccess()
  const [options, setOptions] = useState(DEFAULTS)
  const [started, setStarted] = useState<StartedDryRun | null>(null)
  const [state, setState] = useState<{ busy: 'dryRun' | 'start' | null; problem: string }>({
    busy: null,
    problem: '',
  })
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function send(dryRun: boolean): Promise<void> {
    setState({ busy: dryRun ? 'dryRun' : 'start', problem: '' })
    try {
      const paths = folders.map(({ path }) => path)
      const { migrationId: id } = await migrations.start({
        source,
        destination,
        folders: paths,
        ...options,
        dryRun,
      })
      await queries.invalidateQueries({ queryKey: ['migrations'] })
      if (dryRun) setStarted({ id, options })
      else await navigate({ to: '/migrations/$id', params: { id } })
      setState({ busy: null, problem: '' })
    } catch (error) {
      setState({ busy: null, problem: (error as Error).message })
    }
  }

  const waits = 'owner' in source || 'owner' in destination
  const change = (changed: Partial<Options>) => setOptions({ ...options, ...changed })
  return (
    <SectionList>
      <Section title={messages.options}>
        <OptionFields
          options={options}
          onChange={change}
          hasAllMail={folders.some(({ specialUse }) => isAllMail(specialUse))}
        />
      </Section>
      {folders.length > 0 && (
        <Section title={messages.mapping}>
          <MappingTable
            folders={folders}
            map={options.folderMap}
            dryRunId={started?.id ?? null}
            onChange={(folderMap) => change({ folderMap })}
          />
          {started && <DryRun id={started.id} isStale={started.options !== options} />}
        </Section>
      )}
      <Row>
        <Button
          {...access}
          kind="primary"
          busy={state.busy === 'start'}
          onClick={() => void send(false)}
        >
          {waits ? messages.startWaiting : messages.start}
        </Button>
        {!waits && (
          <>
            <Button {...access} busy={state.busy === 'dryRun'} onClick={() => void send(true)}>
              {started ? messages.dryRunAgain : messages.dryRun}
            </Button>
            <Muted>{messages.dryRunHint}</Muted>
          </>
        )}
        <div role="alert">{state.problem && <Notice tone="bad">{state.problem}</Notice>}</div>
      </Row>
    </SectionList>
  )
}

type OptionFieldsProps = {
  options: Options
  onChange: (changed: Partial<Options>) => void
  hasAllMail: boolean
}

function OptionFields({ options, onChange, hasAllMail }: OptionFieldsProps) {
  return (
    <Stack>
      <CheckField
        name="deduplicate"
        label={messages.deduplicate}
        hint={messages.deduplicateHint}
        defaultChecked={options.deduplicate}
        onChoose={(deduplicate) => onChange({ deduplicate })}
      />
      {hasAllMail && (
        <CheckField
          name="allMailOnce"
          label={messages.allMailOnce}
          defaultChecked={options.allMailOnce}
          onChoose={(allMailOnce) => onChange({ allMailOnce })}
        />
      )}
      <TextField
        name="destPrefix"
        label={messages.prefix}
        hint={messages.prefixHint}
        defaultValue={options.destPrefix}
        onType={(destPrefix) => onChange({ destPrefix })}
        spellCheck={false}
      />
    </Stack>
  )
}
