import { markup } from '../../http/markup.ts'

/** Width of a character of 11 px Verdana, on average. */
const CHARACTER_PX = 6.6
const PADDING_PX = 12

/** A badge of two fields, as an SVG image. */
export function badgeSvg(label: string, value: string): string {
  const [left, right] = [label, value].map((text) => Math.round(text.length * CHARACTER_PX) + PADDING_PX) as [number, number] // prettier-ignore
  const width = left + right
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${label}: ${value}">
<title>${label}: ${value}</title>
<rect rx="3" width="${width}" height="20" fill="#3f4750"/>
<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H${left}z" fill="#0b7a55"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="${left / 2}" y="14">${label}</text>
<text x="${left + right / 2}" y="14">${value}</text>
</g>
</svg>
`.text
}
