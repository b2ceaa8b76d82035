import { useRef, useState, type RefObject } from 'react'
import type { ImportReport } from '../../../src/http/shapes.ts'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { FileDrop } from '../ui/forms/file-drop.tsx'
import { Dialog } from '../ui/layout/dialog.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { decodeFile } from './decode-file.ts'
import classes from './import-dialog.module.css'
import { ImportPreview } from './import-preview.tsx'
import { describeImport, importDialog as messages } from './messages.ts'
import { MAX_ENTRIES, parseLines, type ImportKind, type ParsedLine } from './parse-lines.ts'

type ImportEntry = Pick<ParsedLine, 'name' | 'label'>

type ImportProps = {
  kind: ImportKind
  /** Label of the button that opens the dialog: “Add several”. */
  label: string
  title: string
  hint: string
  submit: (count: number) => string
  onImport: (entries: ImportEntry[]) => Promise<ImportReport>
}

/** A button that opens a dialog to add many names, pasted or from a file. */
export function ImportButton({ label, ...props }: ImportProps) {
  const access = useAccess()
  const dialog = useRef<HTMLDialogElement>(null)
  // A new form each time, without what was added before.
  const [opened, setOpened] = useState(0)
  function open(): void {
    setOpened(opened + 1)
    dialog.current?.showModal()
  }
  return (
    <>
      <Button {...access} icon="plus" onClick={open}>
        {label}
      </Button>
      <Dialog ref={dialog} label={props.title}>
        {opened > 0 && <ImportForm key={opened} dialog={dialog} {...props} />}
      </Dialog>
    </>
  )
}

type FormProps = Omit<ImportProps, 'label'> & { dialog: RefObject<HTMLDialogElement | null> }

type State = { isBusy: boolean; problem: string; report: ImportReport | null }
const AT_FIRST: State = { isBusy: false, problem: '', report: null }

/** Sends as many names as a request takes, one request after the other. */
async function importAll(
  entries: ParsedLine[],
  onImport: ImportProps['onImport'],
): Promise<ImportReport> {
  let sum: ImportReport = { added: 0, exists: 0, invalid: 0, limit: 0, results: [] }
  for (let at = 0; at < entries.length; at += MAX_ENTRIES) {
    const part = await onImport(entries.slice(at, at + MAX_ENTRIES))
    sum = {
      added: sum.added + part.added,
      exists: sum.exists + part.exists,
      invalid: sum.invalid + part.invalid,
      limit: sum.limit + part.limit,
      results: [...sum.results, ...part.results],
    }
  }
  return sum
}

function ImportForm({ dialog, kind, title, hint, submit, onImport }: FormProps) {
  const [text, setText] = useState('')
  const [{ isBusy, problem, report }, setState] = useState(AT_FIRST)
  const lines = parseLines(text, kind)
  const ready = lines.filter((line) => line.problem === null)

  async function send(): Promise<void> {
    setState({ ...AT_FIRST, isBusy: true })
    try {
      setState({ ...AT_FIRST, report: await importAll(ready, onImport) })
    } catch (error) {
      setState({ ...AT_FIRST, problem: (error as Error).message })
    }
  }
  async function take(files: File[]): Promise<void> {
    const read = await readFiles(files)
    setState({ ...AT_FIRST, problem: read.problem })
    setText([text.trimEnd(), read.text].filter(Boolean).join('\n'))
  }

  return (
    <div className={classes.form}>
      <h2>{title}</h2>
      {report === null && (
        <Input text={text} kind={kind} hint={hint} onText={setText} onFiles={take} />
      )}
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <div role="status">
        {report && (
          <Notice tone={report.added > 0 ? 'good' : 'warn'}>
            <strong>{describeImport(report)}</strong>
          </Notice>
        )}
      </div>
      {report === null && ready.length > MAX_ENTRIES && (
        <p>{messages.pasted(ready.length, MAX_ENTRIES)}</p>
      )}
      {lines.length > 0 && <ImportPreview lines={lines} ready={ready} report={report} />}
      <div className={classes.buttons}>
        <Button onClick={() => dialog.current?.close()}>{messages.close}</Button>
        {report === null && (
          <Button
            kind="primary"
            busy={isBusy}
            disabled={ready.length === 0}
            onClick={() => void send()}
          >
            {submit(ready.length)}
          </Button>
        )}
      </div>
    </div>
  )
}

type InputProps = {
  text: string
  kind: ImportKind
  hint: string
  onText: (text: string) => void
  onFiles: (files: File[]) => Promise<void>
}

function Input({ text, kind, hint, onText, onFiles }: InputProps) {
  return (
    <>
      <p>{hint}</p>
      <label className={classes.label}>
        {messages.paste[kind]}
        <textarea
          className={classes.text}
          rows={6}
          value={text}
          maxLength={MAX_FILE_BYTES}
          spellCheck={false}
          autoComplete="off"
          placeholder={kind === 'hosts' ? messages.example : messages.exampleDomains}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      </label>
      {text === '' && (
        <FileDrop
          label={messages.choose}
          hint={messages.drop}
          busy={false}
          onFiles={(files) => void onFiles(files)}
        />
      )}
    </>
  )
}

/** Bytes of a file: 500 names with labels are far smaller. */
const MAX_FILE_BYTES = 200_000

/** Reads the text of files, or says which one cannot be taken. */
async function readFiles(files: File[]): Promise<{ text: string; problem: string }> {
  const large = files.find(({ size }) => size > MAX_FILE_BYTES)
  if (large) return { text: '', problem: messages.tooLarge(large.name) }
  const texts: string[] = []
  for (const file of files) {
    const bytes = await file.arrayBuffer().catch(() => null)
    const text = bytes === null ? null : decodeFile(new Uint8Array(bytes))
    // A spreadsheet or an image, not text.
    if (text === null) return { text: '', problem: messages.unreadable(file.name) }
    texts.push(text.trimEnd())
  }
  return { text: texts.join('\n'), problem: '' }
}
