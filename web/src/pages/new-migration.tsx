import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { ImapAccount } from '../imap/account.ts'
import { migrations, migrationsQuery, type Folders } from '../migrations/api.ts'
import { ConnectionForm } from '../migrations/connection-form.tsx'
import { FolderPicker } from '../migrations/folder-picker.tsx'
import { MonthNote, MonthSpent } from '../migrations/month.tsx'
import { Review } from '../migrations/review.tsx'
import { useOf } from '../migrations/words.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { Steps } from '../ui/navigation/steps.tsx'
import { counted } from '../ui/text/format.ts'

type StepName = 'source' | 'folders' | 'destination' | 'review'

/** What was decided so far; passwords are nowhere else. */
type Draft = {
  source: ImapAccount | null
  found: Folders | null
  chosen: ReadonlySet<string>
  destination: ImapAccount | null
}

const NOTHING: Draft = { source: null, found: null, chosen: new Set(), destination: null }

export function Screen() {
  const [step, setStep] = useState<StepName>('source')
  const [draft, setDraft] = useState(NOTHING)
  const { source, found, chosen, destination } = draft
  const { data: list } = useQuery(migrationsQuery(1))

  async function lookAtSource(connection: ImapAccount): Promise<void> {
    const folders = await migrations.folders(connection)
    setDraft({ ...draft, source: connection, found: { ...folders, folders: inOrder(folders) }, chosen: usual(folders) })
    setStep('folders')
  }
  async function lookAtDestination(connection: ImapAccount): Promise<void> {
    await migrations.test(connection)
    setDraft({ ...draft, destination: connection })
    setStep('review')
  }

  return (
    <Page
      wide
      title="New migration"
      above={<BackLink to="/migrations">Migrations</BackLink>}
      lead={list && <MonthNote month={list.month} />}
    >
      {list && <MonthSpent month={list.month} />}
      <Steps
        label="Steps"
        now={step}
        onGo={setStep}
        steps={[
          { value: 'source', name: 'From', summary: source ? accountText(source) : undefined },
          { value: 'folders', name: 'Folders', summary: found ? chosenText(found, chosen) : undefined },
          { value: 'destination', name: 'To', summary: destination ? accountText(destination) : undefined },
          { value: 'review', name: 'Look over and start' },
        ]}
      />
      <Arrival key={step}>
        {step === 'source' && (
          <Section title="Where is the mail now?">
            <ConnectionForm initial={source} submit="Test, and list the folders" onSubmit={lookAtSource} />
          </Section>
        )}
        {step === 'folders' && found && (
          <Section title="What is to be copied?">
            {found.statusOnly && <FewAnswers />}
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
                Go on
              </Button>
            </div>
          </Section>
        )}
        {step === 'destination' && (
          <Section title="Where is it to go?">
            <ConnectionForm initial={destination} submit="Test the connection" onSubmit={lookAtDestination} />
          </Section>
        )}
        {step === 'review' && source && destination && found && (
          <Review
            source={source}
            destination={destination}
            folders={found.folders.filter(({ path }) => chosen.has(path))}
          />
        )}
      </Arrival>
    </Page>
  )
}

/** Takes the focus to what is asked next; to its first field where there is one. */
function Arrival({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    place.current?.querySelector<HTMLElement>('input, button, h2')?.focus({ preventScroll: true })
  }, [])
  return <div ref={place}>{children}</div>
}

function FewAnswers() {
  return (
    <Notice tone="warn">
      <p>The server does not list its folders. These were found by their usual names; there may be more.</p>
    </Notice>
  )
}

/** INBOX first, the others by name. */
function inOrder({ folders }: Folders): Folders['folders'] {
  const isInbox = (path: string) => path.toUpperCase() === 'INBOX'
  return folders.toSorted((a, b) => Number(isInbox(b.path)) - Number(isInbox(a.path)) || a.path.localeCompare(b.path))
}

/** Everything, but for a view of all mail, which would copy each message once more. */
function usual({ folders }: Folders): Set<string> {
  return new Set(folders.filter(({ specialUse }) => useOf(specialUse) !== 'All mail').map(({ path }) => path))
}

function accountText({ user, host }: ImapAccount): string {
  return `${user} on ${host}`
}

function chosenText({ folders }: Folders, chosen: ReadonlySet<string>): string {
  const picked = folders.filter(({ path }) => chosen.has(path))
  const messages = picked.reduce((sum, folder) => sum + folder.messages, 0)
  return `${counted(picked.length, 'folder')}, ${counted(messages, 'message')}`
}
