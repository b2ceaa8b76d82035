/** The attributes of RFC 6154, and one for INBOX. */
export type SpecialUse =
  | '\\Inbox'
  | '\\All'
  | '\\Archive'
  | '\\Drafts'
  | '\\Flagged'
  | '\\Junk'
  | '\\Sent'
  | '\\Trash'

const BY_ATTRIBUTE: Record<string, SpecialUse> = {
  '\\all': '\\All',
  '\\archive': '\\Archive',
  '\\drafts': '\\Drafts',
  '\\flagged': '\\Flagged',
  '\\junk': '\\Junk',
  '\\sent': '\\Sent',
  '\\trash': '\\Trash',
  // XLIST
  '\\inbox': '\\Inbox',
  '\\allmail': '\\All',
  '\\spam': '\\Junk',
  '\\starred': '\\Flagged',
}

/** The names of these folders in mail programs and at providers, in all known languages. */
const WELL_KNOWN: Partial<Record<SpecialUse, readonly string[]>> = {
  '\\Sent': names(
    'Sent, Sent Items, Sent Messages, Sent Mail, sent-mail, Outbox',
    'Gesendet, Gesendete Elemente, Gesendete Objekte, Gesendete Nachrichten, Postausgang',
    'Envoyés, Messages envoyés, Éléments envoyés, Courrier envoyé, Objets envoyés, Enviados',
    'Elementos enviados, Mensajes enviados, Correo enviado, Itens enviados, Enviats, Inviata',
    'Posta inviata, Inviati, Elementi inviati, Verzonden, Verzonden items, Verzonden berichten',
    'Wysłane, Elementy wysłane, Skickat, Skickade objekt, Skickade, Sendt, Sendte elementer',
    'Sendt post, Sendte element, Lähetetyt, Lähetetyt viestit, Odeslané, Odeslaná pošta, Odoslané',
    'Odoslaná pošta, Elküldött, Elküldött elemek, Trimise, Elemente trimise, Отправленные',
    'Надіслані, Изпратени, Poslano, Gönderilmiş Öğeler, Gönderilenler, Απεσταλμένα, 送信済み',
    '送信済みアイテム, 送信済みメール, 已发送, 已发送邮件, 寄件備份, 已傳送, 보낸 편지함, 보낸편지함, Poslané, Saadetud',
  ),
  '\\Drafts': names(
    'Drafts, Draft, Entwürfe, Entwurf, Brouillons, Borradores, Borrador, Rascunhos, Bozze',
    'Concepten, Kladblok, Szkice, Wersje robocze, Kopie robocze, Utkast, Kladder, Luonnokset',
    'Koncepty, Rozepsané, Piszkozatok, Ciorne, Schițe, Черновики, Чернетки, Чернови, Skice',
    'Taslaklar, Πρόχειρα, Esborranys, 下書き, 草稿, 草稿箱, 임시 보관함, 임시보관함, Mustandid',
  ),
  '\\Trash': names(
    'Trash, Deleted, Deleted Items, Deleted Messages, Bin, Papierkorb, Gelöscht, Gelöschte Elemente',
    'Gelöschte Objekte, Corbeille, Éléments supprimés, Messages supprimés, Papelera, Eliminados',
    'Elementos eliminados, Lixeira, Lixo, Itens excluídos, Cestino, Posta eliminata, Elementi eliminati',
    'Prullenbak, Verwijderde items, Verwijderd, Kosz, Elementy usunięte, Papperskorg, Papperskorgen',
    'Borttaget, Borttagna objekt, Papirkurv, Slettet post, Slettede elementer, Søppel, Roskakori',
    'Poistetut, Koš, Odstraněná pošta, Kôš, Lomtár, Kuka, Törölt elemek, Coș de gunoi, Gunoi',
    'Корзина, Удаленные, Удалённые, Кошик, Видалені, Кошче, Çöp Kutusu, Silinmiş Öğeler',
    'Κάδος απορριμμάτων, Paperera, ゴミ箱, ごみ箱, 已删除, 已删除邮件, 垃圾桶, 휴지통, Smeće, Prügikast',
  ),
  '\\Junk': names(
    'Junk, Spam, Junk E-mail, Junk Email, Junk Mail, Bulk Mail, Bulk, Spamverdacht, Werbung',
    'Junk-E-Mail, Unerwünscht, Indésirables, Courrier indésirable, Pourriel, Correo no deseado',
    'No deseado, Lixo Eletrônico, Lixo eletrónico, Posta indesiderata, Ongewenste e-mail, Ongewenst',
    'Wiadomości-śmieci, Skräppost, Uønsket e-post, Uønsket mail, Roskaposti, Nevyžádaná pošta',
    'Nevyžiadaná pošta, Levélszemét, Спам, Нежелательная почта, Небажана пошта, İstenmeyen',
    'Gereksiz, Önemsiz E-posta, Ανεπιθύμητη αλληλογραφία, 迷惑メール, 垃圾邮件, 垃圾郵件, 스팸함, 정크 메일',
  ),
  '\\Archive': names(
    'Archive, Archives, Archived, Archiv, Archivio, Archivo, Archivados, Arquivo, Arquivados',
    'Archief, Archiwum, Arkiv, Arkisto, Archív, Archívum, Arhivă, Архив, Архів, Arşiv',
    'Αρχειοθήκη, アーカイブ, 归档, 存档, 보관함',
  ),
}

function names(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(', '))
}

const BY_NAME = new Map<string, SpecialUse>(
  Object.entries(WELL_KNOWN).flatMap(([use, all]) =>
    all.map((name) => [keyOf(name), use as SpecialUse] as const),
  ),
)

/** Reads the special use from the server’s attributes. */
export function useByAttribute(flags: readonly string[]): SpecialUse | null {
  return (
    flags.map((flag) => BY_ATTRIBUTE[flag.toLowerCase()]).find((use) => use !== undefined) ?? null
  )
}

/** Guesses the special use from a folder’s own name (the last part of its path). */
export function useByName(name: string): SpecialUse | null {
  return BY_NAME.get(keyOf(name)) ?? null
}

/** Names with and without combining characters, in any case, count as equal. */
function keyOf(name: string): string {
  return name.normalize('NFC').trim().toLowerCase()
}

/** All well-known names, once each. */
export function wellKnownNames(): string[] {
  return [...new Set(Object.values(WELL_KNOWN).flat())]
}
