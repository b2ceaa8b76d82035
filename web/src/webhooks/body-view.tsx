import { useMemo, useState } from 'react'
import { DownloadLink } from '../ui/actions/button.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Muted, Stack } from '../ui/layout/page.tsx'
import { Segments } from '../ui/actions/segments.tsx'
import { Table } from '../ui/lists/table.tsx'
import { sizeText } from '../ui/text/format.ts'
import type { Opened } from './api.ts'
import { bytesOf } from './body-bytes.ts'
import classes from './body-view.module.css'
import { formFields, type Field } from './form-parts.ts'
import { HexView } from './hex-view.tsx'
import { JsonView } from './json-view.tsx'
import { prettyJson } from './pretty-json.ts'

type Request = Opened['request']
type View = 'pretty' | 'form' | 'raw' | 'hex'
const NAMES: Record<View, string> = { pretty: 'Pretty', form: 'Form', raw: 'Raw', hex: 'Hex' }

/** Bytes of JSON that are coloured: a window with a million coloured pieces would freeze. */
const COLOURED = 200_000

/** The body in the views that it can be looked at in; the most telling one first. */
export function BodyView({ request, download }: { request: Request; download: string }) {
  const [wanted, setWanted] = useState<View | null>(null)
  const form = useMemo(() => formFields(request.contentType, bytesOf(request)), [request])
  if (request.body === '') return <Muted>This request has no body.</Muted>
  const views = viewsOf(request, form !== null)
  const view = wanted !== null && views.includes(wanted) ? wanted : (views[0] ?? 'hex')
  return (
    <Stack>
      <div className={classes.ways}>
        <Segments
          label="View of the body"
          choices={views.map((value) => ({ value, name: NAMES[value] }))}
          value={view}
          onChange={setWanted}
        />
        <Row>
          <DownloadLink href={download}>Download</DownloadLink>
          {request.bodyEncoding === 'utf8' && <CopyButton text={request.body} what="the body" />}
        </Row>
      </div>
      {view === 'pretty' && <Pretty text={request.body} />}
      {view === 'form' && <Fields fields={form ?? []} />}
      {view === 'raw' && <Raw text={request.body} />}
      {view === 'hex' && <HexView request={request} />}
    </Stack>
  )
}

function viewsOf({ body, bodyEncoding, contentType }: Request, isForm: boolean): View[] {
  const isText = bodyEncoding === 'utf8'
  const isJson = isText && (/[/+]json\b/i.test(contentType ?? '') || /^\s*[[{]/.test(body)) && body.length < COLOURED
  const views: (View | false)[] = [isJson && 'pretty', isForm && 'form', isText && 'raw', 'hex']
  return views.filter((view) => view !== false)
}

function Pretty({ text }: { text: string }) {
  const pretty = useMemo(() => prettyJson(text), [text])
  if ('lines' in pretty) return <JsonView lines={pretty.lines} />
  return (
    <>
      <Notice tone="warn" title="This is not quite JSON">
        <p>{pretty.problem}</p>
      </Notice>
      <Raw text={text} />
    </>
  )
}

function Raw({ text }: { text: string }) {
  return (
    <pre className={classes.raw} tabIndex={0} aria-label="Body as it came">
      {text}
    </pre>
  )
}

function Fields({ fields }: { fields: Field[] }) {
  return (
    <Table caption="Fields of the form" quiet columns={['Name', 'Value', 'Size']}>
      {fields.map(({ name, fileName, type, value, bytes }, index) => (
        <tr key={index}>
          <th scope="row">
            {name}
            {fileName !== null && <small>{[fileName, type].filter(Boolean).join(' · ')}</small>}
          </th>
          <td className={classes.value}>{value ?? <Muted>not text</Muted>}</td>
          <td>
            <Muted>{sizeText(bytes)}</Muted>
          </td>
        </tr>
      ))}
    </Table>
  )
}
