import { inGuide } from '../../frame/guide-page.ts'

/** Renders text in which addresses of the guide, such as `/docs/guide/scaling.html`, are links. */
export function TextWithGuideLinks({ text }: { text: string }) {
  return text.split(/\/docs\/guide\/([\w/-]+\.html(?:#[\w-]+)?)/).map((part, index) =>
    index % 2 === 1 ? (
      <a key={index} href={inGuide(part)}>
        {inGuide(part)}
      </a>
    ) : (
      part
    ),
  )
}
