import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { ImapAccount } from '../imap/account.ts'
import { migrations, migrationsQuery, type Folders } from '../migrations/api.ts'
import { ConnectionForm } from '../migrations/new/connection-form.tsx'
import { FolderPicker } from '../migrations/new/folder-picker.tsx'
import { wizard as texts } from '../migrations/messages.ts'
import { Loading } from '../ui/feedback/loading.tsx'
import { MonthNote, MonthSpent } from '../migrations/month.tsx'
import { Review } from '../migrations/new/review.tsx'
import { isAllMail } from '../migrations/status.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Button } from '../ui/actions/button.tsx'
import { LeaveGuard } from '../ui/forms/leave-guard.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { Steps } from '../ui/navigation/steps.tsx'

type StepName = 'source' | 'folders' | 'destination' | 'review'

/** The choices so far. Passwords are stored nowhere else. */
type Draft = {
  source: ImapAccount | null
  found: Folders | null
  chosen: ReadonlySet<string>
  destination: ImapAccount | null
}

const NOTHING: Draft = { source: null, found: null, chosen: new Set(), destination: null }

/** The page of a migration, where the wizard ends. */
const MIGRATION = /\/migrations\/[\da-f]{8}-[\da-f-]{27}$/

const NO_FOLDERS: Folders = {
  folders: [],
  totalFolders: 0,
  totalMessages: 0,
  server: { host: '', user: '' },
  usedFallback: false,
  statusOnly: false,
}

export function Screen() {
  const [step, setStep] = useState<StepName>('source')
  const [draft, setDraft] = useState(NOTHING)
  const { source, found, chosen, destination } = draft
  const { data: list, error } = useQuery(migrationsQuery())

  async function testSource(connection: ImapAccount): Promise<void> {
    // Its folders are not known before the owner has signed in: all are copied.
    if ('owner' in connection) {
      setDraft({ ...draft, source: connection, found: NO_FOLDERS, chosen: new Set() })
      return setStep('destination')
    }
    const folders = await migrations.folders(connection)
    setDraft({
      ...draft,
      source: connection,
      found: { ...folders, folders: inOrder(folders) },
      chosen: defaultChoice(folders),
    })
    setStep('folders')
  }
  async function testDestination(connection: ImapAccount): Promise<void> {
    if (!('owner' in connection)) await migrations.test(connection)
    setDraft({ ...draft, destination: connection })
    setStep('review')
  }

  return (
    <Page
      wide
      title={texts.title}
      above={<BackLink to="/migrations">{texts.back}</BackLink>}
      lead={list && <MonthNote month={list.month} />}
    >
      <LeaveGuard isNeeded={(to) => source !== null && !MIGRATION.test(to)} />
      {!list && !error && <Loading lines={3}>{texts.loading}</Loading>}
      {list && <MonthSpent month={list.month} />}
      <Steps
        label={texts.steps}
        now={step}
        onGo={setStep}
        steps={[
          {
            value: 'source',
            name: texts.source,
            summary: source ? accountText(source) : undefined,
          },
          {
            value: 'folders',
            name: texts.folders,
            summary: found ? chosenText(found, chosen, source) : undefined,
          },
          {
            value: 'destination',
            name: texts.destination,
            summary: destination ? accountText(destination) : undefined,
          },
          { value: 'review', name: texts.review },
        ]}
      />
      <FocusFirst key={step}>
        {step === 'source' && (
          <Section title={texts.sourceTitle}>
            <ConnectionForm initial={source} submit={texts.testSource} onSubmit={testSource} />
          </Section>
        )}
        {step === 'folders' && source && 'owner' in source && (
          <Section title={texts.foldersTitle}>{texts.allFolders}</Section>
        )}
        {step === 'folders' && found && found !== NO_FOLDERS && (
          <Section title={texts.foldersTitle}>
            {found.statusOnly && <PartialListNotice />}
            <FolderPicker
              folders={found.folders}
              chosen={chosen}
              onChange={(next) => setDraft({ ...draft, chosen: next })}
            />
            <div>
              <Button
                kind="primary"
                disabled={chosen.size === 0 || chosen.size > 200}
                onClick={() => setStep('destination')}
              >
                {texts.continue}
              </Button>
            </div>
          </Section>
        )}
        {step === 'destination' && (
          <Section title={texts.destinationTitle}>
            <ConnectionForm
              initial={destination}
              submit={texts.testDestination}
              onSubmit={testDestination}
            />
          </Section>
        )}
        {step === 'review' && source && destination && found && (
          <Review
            source={source}
            destination={destination}
            folders={found.folders.filter(({ path }) => chosen.has(path))}
          />
        )}
      </FocusFirst>
    </Page>
  )
}

/** Moves the focus to the first field of the next step. */
function FocusFirst({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    place.current?.querySelector<HTMLElement>('input, button, h2')?.focus({ preventScroll: true })
  }, [])
  return <div ref={place}>{children}</div>
}

function PartialListNotice() {
  return (
    <Notice tone="warn">
      <p>{texts.partialList}</p>
    </Notice>
  )
}

/** INBOX first, the others by name. */
function inOrder({ folders }: Folders): Folders['folders'] {
  const isInbox = (path: string) => path.toUpperCase() === 'INBOX'
  return folders.toSorted(
    (a, b) => Number(isInbox(b.path)) - Number(isInbox(a.path)) || a.path.localeCompare(b.path),
  )
}

/** All folders except a view of all mail, whose messages are in other folders too. */
function defaultChoice({ folders }: Folders): Set<string> {
  return new Set(folders.filter(({ specialUse }) => !isAllMail(specialUse)).map(({ path }) => path))
}

function accountText({ user, host }: ImapAccount): string {
  return texts.account(user, host)
}

function chosenText(
  { folders }: Folders,
  chosen: ReadonlySet<string>,
  source: ImapAccount | null,
): string {
  if (source && 'owner' in source) return texts.allFolders
  const picked = folders.filter(({ path }) => chosen.has(path))
  const messages = picked.reduce((sum, folder) => sum + folder.messages, 0)
  return texts.chosen(picked.length, messages)
}
