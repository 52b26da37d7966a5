-- What a person does in the editor, by script: open, read the findings, hover, complete, format.
local said = {}
local folder = vim.fn.fnamemodify(vim.env.TEMPLATE, ":h")
local function finish()
  vim.fn.writefile(said, folder .. "/said.txt")
  vim.cmd("qa!")
end
local ok, why = pcall(function()
  vim.cmd("edit " .. vim.env.TEMPLATE)
  local buffer = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start_client({ name = "policy", cmd = { vim.env.SERVER, "lsp" }, root_dir = folder })
  vim.lsp.buf_attach_client(buffer, id)
  vim.wait(90000, function() return #vim.diagnostic.get(buffer) > 0 end)
  for _, found in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(said, string.format("finding %s at %d:%d", found.code or found.user_data.lsp.code, found.lnum, found.col))
  end
  local function ask(method, line, character)
    local params = { textDocument = vim.lsp.util.make_text_document_params(buffer), position = { line = line, character = character },
      options = { tabSize = 2, insertSpaces = true } }
    local answers = vim.lsp.buf_request_sync(buffer, method, params, 90000)
    for _, answer in pairs(answers or {}) do return answer.result end
  end
  local hover = ask("textDocument/hover", 3, 6)
  table.insert(said, "hover " .. hover.contents.value:sub(1, 11))
  for _, item in ipairs(ask("textDocument/completion", 1, 10)) do
    if item.label == "transfer-only" then table.insert(said, "offers " .. item.label) end
  end
  local edits = ask("textDocument/formatting", 0, 0)
  vim.lsp.util.apply_text_edits(edits, buffer, "utf-16")
  table.insert(said, "formatted " .. vim.api.nvim_buf_get_lines(buffer, 3, 4, false)[1])
end)
if not ok then table.insert(said, "failed: " .. tostring(why)) end
finish()
